"""What every format of the table says: the words of a cell, and the notes below."""

from mhaug.experiments.significance import PAIRS
from mhaug.experiments.table import PROTOCOL, Cell, Table

NOTHING = "–"


def accuracy(cell: Cell) -> str:
    """Ours: `84.91 ± 0.33`; marked where it has fewer seeds than others of its column."""
    if cell.mean is None:
        return NOTHING
    spread = "" if cell.std is None else f" ± {cell.std:.2f}"
    return f"{cell.mean:.2f}{spread}{'' if cell.competes else '‡'}"


def difference(cell: Cell) -> str:
    """Ours less the paper's, with its sign."""
    return "" if cell.difference is None else f"{cell.difference:+.2f}".replace("-", "−")


def paper(cell: Cell) -> str:
    """The paper's number, or why there is none, and the difference."""
    theirs = NOTHING if cell.paper is None else str(cell.paper)
    return f"paper {theirs} ({difference(cell)})" if cell.difference is not None else f"paper {theirs}"


def short_paper(cell: Cell) -> str:
    """The same where there is little room: `85.16 (−0.25)`."""
    if cell.paper is None or cell.paper.mean is None:
        return NOTHING if cell.paper is None else cell.paper.note
    theirs = f"{cell.paper.mean:.2f}{'†' if cell.paper.copied else ''}"
    return theirs if cell.difference is None else f"{theirs} ({difference(cell)})"


def evidence(cell: Cell) -> str:
    """How many runs, and how likely the difference to the best rival is by chance."""
    runs = f"{cell.runs} run{'' if cell.runs == 1 else 's'}"
    if cell.rival is None:
        return runs
    why = "" if _tells(cell) else f" ({cell.shared} shared seed{'' if cell.shared == 1 else 's'})"
    return f"{runs}, p {p_value(cell)} vs {cell.rival}{why}"


def short_evidence(cell: Cell) -> str:
    """The same where there is little room: `n 10, p 0.002`."""
    return f"n {cell.runs}" + ("" if cell.rival is None else f", p {p_value(cell)}")


def p_value(cell: Cell) -> str:
    """Three digits behind the point; a dash where there is none, or one of so few seeds that it tells nothing."""
    if cell.p_value is None or not _tells(cell):
        return NOTHING
    return "<0.001" if cell.p_value < 0.001 else f"{cell.p_value:.3f}"


def _tells(cell: Cell) -> bool:
    return cell.p_value is not None and cell.shared >= PAIRS


def notes(table: Table, *, difference: str = "In brackets: ours less the paper's.", best: str = "Bold") -> list[str]:
    """How to read the table, and what was chosen on the way to it. Formats differ in how they show two things."""
    lines = [
        "Test accuracy in percent at the first best validation accuracy: mean ± standard deviation over seeds. "
        f"{difference}",
        f"{best}: best mean of its column. *: its difference to the runner-up has p < 0.05. p: two-sided Wilcoxon "
        "signed-rank test over shared seeds against the best other method of the column, not corrected for the "
        "number of comparisons; with fewer than six seeds it cannot get below 0.05.",
        *_gaps(table),
    ]
    if any(cell.paper is not None and cell.paper.copied for cell in table.cells):
        lines.append("†: taken by the paper from the paper of the method itself. OOM: out of memory there.")
    chosen = [cell for cell in table.cells if cell.choice.compared > 1]
    if chosen:
        places = "; ".join(f"{' '.join(cell.key)} (1 of {cell.choice.compared})" for cell in chosen)
        lines.append(
            "Where several settings were run on as many seeds, those of the best mean validation accuracy over the "
            f"same seeds are shown; test accuracy plays no part in the choice: {places}."
        )
    aside = sum(cell.choice.left_aside for cell in table.cells)
    if aside:
        lines.append(f"Left aside: {aside} settings that ran on fewer seeds than another of their cell.")
    if table.left_out:
        lines.append(f"Left out: {table.left_out} runs on another split than '{PROTOCOL}', or without test nodes.")
    return lines


def _gaps(table: Table) -> list[str]:
    """What could not be compared as the rest was."""
    lines = []
    if not all(cell.competes for cell in table.cells):
        lines.append(
            "‡: fewer seeds than others of its column. It is not among those that may be the best or a rival; its p "
            "is over the seeds that it shares."
        )
    if any(cell.rival is not None and not _tells(cell) for cell in table.cells):
        lines.append(f"p {NOTHING}: fewer than six seeds are shared with the best other method.")
    return lines
