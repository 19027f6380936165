"""The figures by name, and the way from a name to an image with its numbers beside it."""

import json
import math
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from mhaug import checks
from mhaug.experiments.figures import canvas
from mhaug.experiments.figures.request import Record, Request


@dataclass(frozen=True)
class Entry:
    """One figure: its file in this folder, its place in the paper, and which options of a request it heeds."""

    module: str
    paper: str | None
    title: str
    takes: tuple[str, ...] = ()


FIGURES = {
    "ego-change": Entry("ego_change", "figure-2", "How the change of an ego-graph is counted"),
    "ego-graph": Entry(
        "ego_graph", "figure-3", "One ego-graph under three targets, at the same number of edges", ("dataset", "node")
    ),
    "count-term": Entry("count_term", "figure-4", "What the count's term is for"),
    "grid": Entry("grid", "figure-5", "The chain follows the target"),
    "mixing": Entry("mixing", None, "Mixing of the paper's move and of the mixture", ("dataset",)),
    "delivered": Entry("delivered", None, "Strength delivered against strength asked", ("dataset",)),
}
_ALIASES = {entry.paper: name for name, entry in FIGURES.items() if entry.paper}


def known_name(name: str) -> str:
    """The name of a figure, from that name or the paper's number."""
    name = _ALIASES.get(name, name)
    checks.one_of(name, "name", [*FIGURES, *_ALIASES])
    return name


def measure(name: str, request: Request, **effort: Any) -> Record:
    """The figure's numbers: settings, claims and data, under the figure's name. `effort`: more or less than usual."""
    entry = FIGURES[name]
    numbers = _module(entry).measure(request, **effort)
    place = {option: getattr(request, option) for option in entry.takes}
    return {"figure": name, "paper": entry.paper, "title": entry.title, "seed": request.seed, **place, **numbers}


def write(record: Record, out: Path) -> Path:
    """Draw the record to `out`, and write it as JSON beside the image."""
    with canvas.at_print_size():
        canvas.save(_module(FIGURES[record["figure"]]).draw(record), out)
    numbers = out.with_suffix(".json")
    text = json.dumps(_short(record), indent=1, ensure_ascii=False, allow_nan=False)
    # a row of numbers stays on one line
    text = re.sub(r"\[[^\[\]{}\"]*\]", lambda row: " ".join(row.group().split()), text)
    numbers.write_text(text + "\n", encoding="utf-8")
    return numbers


def _module(entry: Entry) -> Any:
    return import_module(f"mhaug.experiments.figures.{entry.module}")


def _short(value: Any) -> Any:
    """Six digits are more than any of these numbers has; what is no number is null, since JSON has no NaN."""
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    return [_short(each) for each in value] if isinstance(value, list | tuple) else value
