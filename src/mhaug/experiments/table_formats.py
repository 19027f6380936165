"""The table in Markdown, CSV and LaTeX; `table_html.py` has the page."""

import csv
import io
import re

from mhaug.experiments import table_words as words
from mhaug.experiments.table import Cell, Table

CSV_COLUMNS = ("backbone", "method", "dataset", "mean", "std", "runs", "paper_mean", "paper_std", "difference")

_CAPTION = (
    "Test accuracy in percent with {}. In each cell: mean $\\pm$ standard deviation over seeds; the paper's number "
    "and, in brackets, ours less that; the number of runs, and $p$ of the difference to the best other method of the "
    "column (Wilcoxon signed-rank over seeds)."
)


def rows(table: Table) -> list[dict[str, str | int | float | None]]:
    """One row a cell, for programs; percent."""
    return [dict(zip(CSV_COLUMNS, _numbers(cell), strict=True)) for cell in table.cells]


def csv_text(table: Table) -> str:
    """Columns as in `CSV_COLUMNS`; what is not known is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows(table))
    return text.getvalue()


def markdown(table: Table) -> str:
    """One table a backbone."""
    datasets = table.datasets
    lines = []
    for backbone in table.backbones:
        head = " | ".join(map(plain, datasets))
        lines += [f"### {plain(backbone)}", "", f"| method | {head} |", "|---|" + "---|" * len(datasets)]
        for method, row in table.block(backbone).items():
            cells = " | ".join(_markdown_cell(row.get(dataset)) for dataset in datasets)
            lines.append(f"| {plain(method)} | {cells} |")
        lines.append("")
    return "\n".join([*lines, *(f"- {plain(note)}" for note in words.notes(table)), ""])


def latex(table: Table) -> str:
    """One `table` a backbone; needs the package booktabs."""
    datasets = table.datasets
    lines = [r"% \usepackage{booktabs}"]
    for backbone in table.backbones:
        lines += [
            r"\begin{table}",
            r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
            rf"\caption{{{_CAPTION.format(backbone)}}}",
        ]
        lines += [rf"\label{{tab:{_tex(backbone)}}}", rf"\begin{{tabular}}{{l{'c' * len(datasets)}}}", r"\toprule"]
        lines += [f"method & {' & '.join(map(_tex, datasets))} \\\\", r"\midrule"]
        for method, row in table.block(backbone).items():
            parts = [_latex_cell(row.get(dataset)) for dataset in datasets]
            # a cell is three lines of the tabular: a \shortstack would not keep them level
            for number, name in enumerate((_tex(method), "", "")):
                end = r"\\[3pt]" if number == 2 else r"\\"
                lines.append(f"{name} & {' & '.join(part[number] for part in parts)} {end}")
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}", ""]
    return "\n".join([*lines, *(rf"% {note}" for note in words.notes(table)), ""])


def _numbers(cell: Cell) -> list[str | int | float | None]:
    paper = (None, None) if cell.paper is None else (cell.paper.mean, cell.paper.std)
    ours = [None if value is None else round(value, 4) for value in (cell.mean, cell.std, cell.difference)]
    return [*cell.key, ours[0], ours[1], cell.runs, *paper, ours[2]]


def _markdown_cell(cell: Cell | None) -> str:
    if cell is None:
        return words.NOTHING
    ours = words.accuracy(cell)
    ours = f"**{ours}**" if cell.best else ours
    lines = [ours + (r"\*" if cell.clearly_best else ""), plain(words.paper(cell))]
    return "<br>".join([*lines, plain(words.evidence(cell))] if cell.runs else lines)


def _latex_cell(cell: Cell | None) -> tuple[str, str, str]:
    if cell is None:
        return words.NOTHING, "", ""
    ours = _tex(words.accuracy(cell))
    ours = rf"\textbf{{{ours}}}" if cell.best else ours
    ours += "*" if cell.clearly_best else ""
    return ours, _tex(words.short_paper(cell)), _tex(words.short_evidence(cell)) if cell.runs else ""


# signs that LaTeX would read as its own, and those that its usual fonts do not have
_TEX = {
    "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "<": "$<$", ">": "$>$",
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "|": r"\textbar{}",
    "±": r"$\pm$", "−": "$-$", "†": r"$^\dagger$", "‡": r"$^\ddagger$", "–": "--",
}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_TEX.get(sign, sign) for sign in text)


def plain(text: str) -> str:
    """Words that Markdown shall show as they are: a name may be anyone's path."""
    return re.sub(r"[\\|*`]", r"\\\g<0>", re.sub(r"<(?=[a-zA-Z/!])", "&lt;", text.replace("&", "&amp;")))
