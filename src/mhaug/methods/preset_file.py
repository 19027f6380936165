"""Files of presets: their rows, and how a search writes one: what it chose, and the study that chose it."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mhaug import checks
from mhaug.checks import RequestError

NAMES = ("dataset", "backbone", "method")


@dataclass(frozen=True)
class Preset:
    """One row: settings for the cells that it names. A list that is empty names all."""

    settings: dict[str, Any]
    dataset: tuple[str, ...] = ()
    backbone: tuple[str, ...] = ()
    method: tuple[str, ...] = ()
    note: str = ""  # where the settings come from

    def covers(self, dataset: str, backbone: str, method: str) -> bool:
        """Whether the row speaks of this cell."""
        cell = ((self.dataset, dataset), (self.backbone, backbone), (self.method, method))
        return all(not names or name in names for names, name in cell)


def rows_of(text: str, source: str) -> tuple[Preset, ...]:
    """The rows of a presets file, in their order; `source` is what an error calls it."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise RequestError(f"presets must be a TOML file; got {source!r} ({checks.one_line(wrong)})") from wrong
    listed = isinstance(table.get("preset", []), list) and table.keys() <= {"preset"}
    checks.require(listed, "presets", "made of tables [[preset]]", source)
    return tuple(_row(row) for row in table.get("preset", []))


def _row(row: dict[str, Any]) -> Preset:
    for name in row:
        checks.one_of(name, "names in a row of presets", [*NAMES, "note", "settings"])
    for name in NAMES:
        checks.require(isinstance(row.get(name, []), list), f"{name} of a preset", "a list of names", row.get(name))
    settings = row.get("settings")
    checks.require(isinstance(settings, dict), "settings of a preset", "a table [preset.settings]", settings)
    assert isinstance(settings, dict)
    return Preset(settings, note=row.get("note", ""), **{name: tuple(row.get(name, ())) for name in NAMES})


def write_row(path: Path, dataset: str, backbone: str, method: str, settings: Mapping[str, Any], note: str) -> None:
    """Add the row of one cell, in the place of an earlier one of the same cell that a search wrote."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    rows_of(text, str(path))
    cell = zip(NAMES, (dataset, backbone, method), strict=True)
    head = "".join(f"{key} = {json.dumps([value])}\n" for key, value in cell)
    # TOML has no word for None, which is what such a setting is anyway where nobody names it
    named = {name: value for name, value in settings.items() if value is not None}
    body = "".join(f"{name} = {json.dumps(value)}\n" for name, value in sorted(named.items()))
    row = f"[[preset]]\n{head}note = {json.dumps('tuned: ' + note)}\n[preset.settings]\n{body}"
    start = f'[[preset]]\n{head}note = "tuned: '
    if start in text:
        before, _, rest = text.partition(start)
        _, gap, after = rest.partition("\n\n[[preset]]")
        text = before + (gap.lstrip("\n") + after if gap else "")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text.rstrip()}\n\n{row}".lstrip("\n"), encoding="utf-8")
