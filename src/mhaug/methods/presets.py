"""Settings by dataset, backbone and method: `presets.toml`, a file of one's own, and how their rows add up."""

import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from mhaug.checks import RequestError
from mhaug.methods.preset_file import Preset, rows_of

OWN_FILE = "MHAUG_PRESETS"  # the environment's word for a presets file of one's own

Settings = dict[str, Any]


def preset_settings(dataset: str, backbone: str, method: str) -> Settings:
    """The settings of one cell: rows that cover it, later ones over earlier ones; one's own file over ours."""
    merged: Settings = {}
    for row in (*_rows(), *own_rows()):
        if row.covers(dataset, backbone, method):
            merged |= row.settings
    return merged


def own_rows() -> tuple[Preset, ...]:
    """The rows of the file that `MHAUG_PRESETS` names, if it names one."""
    path = os.environ.get(OWN_FILE)
    if not path:
        return ()
    try:
        return _rows_of_file(path, os.stat(path).st_mtime_ns)
    except OSError as missing:
        raise RequestError(f"{OWN_FILE} must name a presets file; got {path!r}") from missing


@cache
def _rows() -> tuple[Preset, ...]:
    return rows_of((files("mhaug.methods") / "presets.toml").read_text(encoding="utf-8"), "presets.toml")


@cache
def _rows_of_file(path: str, _changed: int) -> tuple[Preset, ...]:
    return rows_of(Path(path).read_text(encoding="utf-8"), path)
