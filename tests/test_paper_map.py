"""The map of the paper points at things that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = re.findall(
    r"^\| .+? \| `([\w/]+\.py)` \| (.+?) \|$", (ROOT / "docs" / "paper_map.md").read_text(), re.MULTILINE
)


@pytest.mark.parametrize(("file", "names"), ROWS)
def test_each_row_points_at_code(file, names):
    path = ROOT / file if file.startswith("tests/") else ROOT / "src" / "mhaug" / file
    text = path.read_text()
    for name in re.findall(r"`(\w+)`", names):
        assert re.search(rf"^\s*(def|class) {name}\b", text, re.MULTILINE), f"{name} is not in {file}"


def test_the_map_is_not_empty():
    assert len(ROWS) >= 9
