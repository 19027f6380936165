"""The report: sections in their order on one page."""

from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from mhaug.experiments.report import curves, sections
from mhaug.experiments.report.material import Material
from mhaug.experiments.report.page import page
from mhaug.experiments.report.shapes import paragraph, section
from mhaug.experiments.table import Table, table_of
from mhaug.experiments.table_html import table_fragment

CONTENTS = {
    "table": "Table",
    "figures": "Figures",
    "curves": "Learning curves",
    "chains": "The chains",
    "failures": "Failed runs",
    "again": "Commands and versions",
}


def build_report(material: Material, *, progress: Callable[[int, int], None] | None = None) -> str:
    """The whole page. `progress` is told how many small pictures are drawn, and of how many."""
    table = table_of(material.records) if material.records else Table((), 0)
    cells = table.cells
    tick = _ticker(len(curves.with_curves(cells)) + len(curves.with_chains(cells)), progress)
    parts = [
        _table_section(table),
        sections.figures_section(material),
        curves.learning_section(cells, tick),
        curves.chain_section(cells, tick),
        sections.failures_section(material),
        sections.commands_section(material, cells) if cells else "",
    ]
    title = f"Runs of {', '.join(Path(source).name for source in material.sources)}"
    made = f"Made {datetime.now(UTC):%Y-%m-%d %H:%M} UTC from {', '.join(material.sources)}."
    head = f"<h1>{escape(title)}</h1>{paragraph(made)}{sections.facts(material, cells)}"
    return page(title, head + _contents(parts) + "".join(parts))


def _table_section(table: Table) -> str:
    inner = table_fragment(table) if table.cells else paragraph("No run has finished.")
    return section("table", "Table 1, ours beside the paper's", inner)


def _contents(parts: list[str]) -> str:
    whole = "".join(parts)
    there = [(name, title) for name, title in CONTENTS.items() if f'<section id="{name}">' in whole]
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in there)
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>'


def _ticker(total: int, progress: Callable[[int, int], None] | None) -> Callable[[], None]:
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return tick
