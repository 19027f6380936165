"""Write a row into a presets file: what a search chose, and the study that chose it."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mhaug.checks import RequestError


def write_row(path: Path, dataset: str, backbone: str, method: str, settings: Mapping[str, Any], note: str) -> None:
    """Add the row of one cell, in the place of an earlier one of the same cell that a search wrote."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise RequestError(f"presets must be a TOML file; got {str(path)!r} ({wrong})") from wrong
    names = {"dataset": [dataset], "backbone": [backbone], "method": [method]}
    head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in names.items())
    body = "".join(f"{name} = {json.dumps(value)}\n" for name, value in sorted(settings.items()))
    row = f"[[preset]]\n{head}note = {json.dumps('tuned: ' + note)}\n[preset.settings]\n{body}"
    start = f'[[preset]]\n{head}note = "tuned: '
    if start in text:
        before, _, rest = text.partition(start)
        _, gap, after = rest.partition("\n\n[[preset]]")
        text = before + (gap.lstrip("\n") + after if gap else "")
    path.write_text(f"{text.rstrip()}\n\n{row}".lstrip("\n"), encoding="utf-8")
