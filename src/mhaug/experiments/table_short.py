"""The table in one look, for a README: a cell is `84.29 ± 0.24 (85.16)`, the paper's number in brackets."""

from mhaug.experiments import table_words as words
from mhaug.experiments.table import Cell, Table
from mhaug.experiments.table_formats import plain


def short_markdown(table: Table) -> str:
    """All backbones in one table of Markdown, without notes."""
    datasets = table.datasets
    lines = [f"| network | method | {' | '.join(map(plain, datasets))} |", "|---" * (2 + len(datasets)) + "|"]
    for backbone in table.backbones:
        for method, row in table.block(backbone).items():
            cells = [_cell(row.get(dataset)) for dataset in datasets]
            lines.append(f"| {' | '.join([plain(backbone), plain(method), *cells])} |")
    return "\n".join([*lines, ""])


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return words.NOTHING
    ours = words.accuracy(cell)
    paper = "" if cell.paper is None or cell.paper.mean is None else f" ({cell.paper.mean:.2f})"
    return (f"**{ours}**" if cell.best else ours) + paper
