"""The images of a folder, with what `mhaug figure` wrote beside them."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mhaug.checks import RequestError
from mhaug.experiments.report.embed import KINDS, from_file

LARGEST_DRAWING = 1_000_000  # bytes of an .svg; beyond that pixels are lighter to read


@dataclass(frozen=True)
class Picture:
    """An image, and the claims that its numbers were held to."""

    title: str
    uri: str
    claims: tuple[str, ...] = ()
    command: str | None = None


def pictures(folder: Path) -> list[Picture]:
    """The images of a folder and its subfolders, one of each name; none where there is no folder."""
    if folder.exists() and not folder.is_dir():
        raise RequestError(f"figures must be a folder of images; got {str(folder)!r}")
    names: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix.lower() in KINDS:
            names.setdefault(path.relative_to(folder).with_suffix("").as_posix(), []).append(path)
    found = [_picture(name, min(paths, key=_preference)) for name, paths in names.items()]
    return sorted(found, key=_order)


def _order(picture: Picture) -> tuple[bool, str]:
    """The paper's first, by their numbers; then the others, by their files."""
    papers = picture.title.startswith("Figure ")
    return not papers, picture.title if papers else ""


def _picture(name: str, path: Path) -> Picture:
    numbers = _numbers(path.with_suffix(".json"))
    if numbers is None:
        title = name.replace("/", ": ").replace("_", " ").replace("-", " ")
        return Picture(title[:1].upper() + title[1:], from_file(path))
    place = f"{numbers['paper'].replace('-', ' ').capitalize()}: " if numbers.get("paper") else ""
    words = ["mhaug", "figure", numbers["figure"], "--out", path.name]
    for option in ("dataset", "node", "seed"):
        words += [f"--{option}", str(numbers[option])] if option in numbers else []
    claims = tuple(map(_words, numbers.get("claims", [])))
    return Picture(place + numbers["title"], from_file(path), claims, shlex.join(words))


def _numbers(path: Path) -> dict[str, Any] | None:
    """The file that `mhaug figure` writes; None where there is none, or where it is something else."""
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return content if isinstance(content, dict) and {"figure", "title"} <= content.keys() else None


def _words(claim: dict[str, Any]) -> str:
    bound = f"at least {claim['at_least']:.3g}" if "at_least" in claim else f"at most {claim['at_most']:.3g}"
    return f"{'holds' if claim['holds'] else 'FAILS'}: {claim['claim']}: {claim['value']:.3g} ({bound})"


def _preference(path: Path) -> tuple[bool, int]:
    """Drawings before pixels, unless they are heavy."""
    heavy = path.suffix.lower() == ".svg" and path.stat().st_size > LARGEST_DRAWING
    return heavy, list(KINDS).index(path.suffix.lower())
