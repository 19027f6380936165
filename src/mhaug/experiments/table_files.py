"""The table as files, one a format."""

from pathlib import Path

from mhaug.checks import require
from mhaug.experiments.table import Table
from mhaug.experiments.table_formats import csv_text, latex, markdown
from mhaug.experiments.table_html import table_page
from mhaug.experiments.table_short import short_markdown

FORMATS = {
    "table.md": markdown,
    "table_short.md": short_markdown,
    "table.csv": csv_text,
    "table.tex": latex,
    "table.html": table_page,
}


def write_files(table: Table, folder: Path) -> list[Path]:
    """Every format into this folder; the paths."""
    require(not folder.is_file(), "out", "a folder, or a new path", str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FORMATS.items():
        (folder / name).write_text(text(table), encoding="utf-8")
    return [folder / name for name in FORMATS]
