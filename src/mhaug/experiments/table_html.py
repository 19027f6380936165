"""The table in HTML: a fragment for the report, and a page of its own."""

from html import escape

from mhaug.experiments import table_words as words
from mhaug.experiments.report.page import page
from mhaug.experiments.table import Cell, Table


def table_page(table: Table) -> str:
    """One page without network or scripts."""
    return page("Table 1", f"<h1>Table 1, ours beside the paper's</h1>{table_fragment(table)}")


def table_fragment(table: Table) -> str:
    """One table a backbone, and the notes."""
    blocks = [_block(table, backbone) for backbone in table.backbones]
    lines = "".join(f"<li>{escape(note)}</li>" for note in words.notes(table))
    return f'{"".join(blocks)}<ul class="notes">{lines}</ul>'


def _block(table: Table, backbone: str) -> str:
    datasets = table.datasets
    head = "".join(f'<th scope="col">{escape(dataset)}</th>' for dataset in datasets)
    rows = [
        f'<tr><th scope="row">{escape(method)}</th>{"".join(_cell(row.get(dataset)) for dataset in datasets)}</tr>'
        for method, row in table.block(backbone).items()
    ]
    # tabindex: a box that scrolls must be reachable from the keyboard
    return (
        f'<h3>{escape(backbone)}</h3><div class="scroll" tabindex="0" role="region" aria-label="{escape(backbone)}">'
        f'<table class="results"><thead><tr><th scope="col">method</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(cell: Cell | None) -> str:
    if cell is None:
        return f"<td>{words.NOTHING}</td>"
    ours = escape(words.accuracy(cell))
    ours = f"<strong>{ours}</strong>" if cell.best else ours
    lines = [f'<span class="ours">{ours}{"*" if cell.clearly_best else ""}</span>', _small(words.paper(cell))]
    if cell.runs:
        lines.append(_small(words.evidence(cell)))
    return f"<td{' class=best' if cell.best else ''}>{''.join(lines)}</td>"


def _small(text: str) -> str:
    return f"<small>{escape(text)}</small>"
