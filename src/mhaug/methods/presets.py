"""Settings by dataset, backbone and method: `presets.toml`, and how its rows add up."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

Settings = dict[str, Any]


@dataclass(frozen=True)
class Preset:
    """One row: settings for the cells that it names. A list that is empty names all."""

    settings: Settings
    dataset: tuple[str, ...] = ()
    backbone: tuple[str, ...] = ()
    method: tuple[str, ...] = ()
    note: str = ""  # where the settings come from

    def covers(self, dataset: str, backbone: str, method: str) -> bool:
        """Whether the row speaks of this cell."""
        cell = ((self.dataset, dataset), (self.backbone, backbone), (self.method, method))
        return all(not names or name in names for names, name in cell)


def preset_settings(dataset: str, backbone: str, method: str) -> Settings:
    """The settings of one cell: rows that cover it, later ones over earlier ones."""
    merged: Settings = {}
    for row in _rows():
        if row.covers(dataset, backbone, method):
            merged |= row.settings
    return merged


@cache
def _rows() -> tuple[Preset, ...]:
    table = tomllib.loads((files("mhaug.methods") / "presets.toml").read_text(encoding="utf-8"))
    rows = []
    for row in table["preset"]:
        names = {key: tuple(row.get(key, ())) for key in ("dataset", "backbone", "method")}
        rows.append(Preset(settings=row["settings"], note=row.get("note", ""), **names))
    return tuple(rows)
