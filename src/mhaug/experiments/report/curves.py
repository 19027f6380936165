"""The sections with curves: learning, and the chain."""

from collections.abc import Callable, Sequence
from html import escape
from statistics import fmean

from mhaug.experiments.record import RunRecord
from mhaug.experiments.report.drawings import accuracy_limits, chain_picture, learning_picture
from mhaug.experiments.report.embed import drawn
from mhaug.experiments.report.series import series, strength
from mhaug.experiments.report.shapes import card, numbers, paragraph, section
from mhaug.experiments.table import Cell
from mhaug.methods.catalogue import method_options

Tick = Callable[[], None]
WITHOUT = (
    "These records carry no curves: files of JSON lines leave them out. The store that “mhaug sweep --store "
    "runs.sqlite” writes has them; “mhaug report --store runs.sqlite” shows them, and takes several stores."
)


def with_curves(cells: Sequence[Cell]) -> list[Cell]:
    """Cells whose runs carry their history; exports may leave it out."""
    return [cell for cell in cells if series(cell.choice.records, "test_accuracy") is not None]


def with_chains(cells: Sequence[Cell]) -> list[Cell]:
    """Cells of methods that drop by a chain."""
    parts = ("ego_edge_change", "ego_node_change")
    return [cell for cell in cells if any(series(cell.choice.records, part) is not None for part in parts)]


def learning_section(cells: Sequence[Cell], tick: Tick) -> str:
    """A card a cell, on one scale for each graph."""
    if not with_curves(cells):
        return section("curves", "Learning curves", paragraph(WITHOUT))
    text = (
        "Mean over seeds, band: all seeds; up to the end of the shortest run. Grey ticks: the update of best "
        "validation accuracy of each seed, at which the table reads the test accuracy."
    )
    places = dict.fromkeys((cell.key.backbone, cell.key.dataset) for cell in with_curves(cells))
    groups = [_learning_group(cells, *place, tick) for place in places]
    return section("curves", "Learning curves", paragraph(text) + "".join(groups))


def chain_section(cells: Sequence[Cell], tick: Tick) -> str:
    """What was asked of the chains and what they delivered, as numbers and as curves."""
    chains = with_chains(cells)
    if not chains:
        asked = any("edge_strength" in method_options(cell.key.method) for cell in cells)
        return (
            section("chains", "The chains", paragraph(f"What was delivered is not known here. {WITHOUT}"))
            if asked
            else ""
        )
    text = (
        "Accepted: share of candidates, since the start of training. Delivered: mean ego change of the state that "
        "was trained on, beside μ, to which the target pulls it. Dropped: share of all edges or nodes."
    )
    head = ["cell", "accepted", "candidates an update"]
    head += [f"{part} {word}" for part in ("edges", "nodes") for word in ("μ", "delivered", "dropped")]
    table = numbers(head, [_chain_row(cell) for cell in chains], "chains")
    cards = []
    for cell in chains:
        title = f"{cell.key.method}, {cell.key.dataset}, {cell.key.backbone}"
        words = f"{_mean(cell, 'acceptance_rate'):.0%} accepted, {_seeds(cell)}"
        cards.append(card(title, words, drawn(chain_picture(cell.choice.records)), f"Chain of {title}: {words}"))
        tick()
    return section("chains", "The chains", f"{paragraph(text)}{table}<h3>Over training</h3>{_grid(cards)}")


def _learning_group(cells: Sequence[Cell], backbone: str, dataset: str, tick: Tick) -> str:
    mine = [cell for cell in with_curves(cells) if (cell.key.backbone, cell.key.dataset) == (backbone, dataset)]
    limits = accuracy_limits([record for cell in mine for record in cell.choice.records])
    assert limits is not None
    cards = []
    for cell in mine:
        best = f"best at update {_mean(cell, 'best_update'):.0f}"
        scores = f"validation {_mean(cell, 'validation_accuracy'):.1%}, test {_mean(cell, 'test_accuracy'):.1%}"
        alt = f"Learning curves of {cell.key.method} on {dataset} with {backbone}: {scores}, {best}"
        picture = drawn(learning_picture(cell.choice.records, limits))
        cards.append(card(cell.key.method, f"{scores}; {best}, {_seeds(cell)}", picture, alt))
        tick()
    return f"<h3>{escape(f'{dataset}, {backbone}')}</h3>{_grid(cards)}"


def _chain_row(cell: Cell) -> list[str]:
    updates = sum(record.updates for record in cell.choice.records)
    steps = sum(record.steps for record in cell.choice.records)
    row = [" ".join(cell.key), f"{_mean(cell, 'acceptance_rate'):.1%}", f"{steps / max(updates, 1):.1f}"]
    for part in ("edge", "node"):
        if series(cell.choice.records, f"ego_{part}_change") is None:
            row += ["–"] * 3
            continue
        asked = strength(cell.choice.records[0], part)
        row.append("–" if asked is None else f"{asked:g}")
        row += [f"{_over_all(cell.choice.records, name):.3f}" for name in (f"ego_{part}_change", f"{part}_change")]
    return row


def _over_all(records: Sequence[RunRecord], name: str) -> float:
    return fmean(fmean(record.history[name]) for record in records)


def _mean(cell: Cell, name: str) -> float:
    return fmean(getattr(record, name) for record in cell.choice.records)


def _seeds(cell: Cell) -> str:
    return f"{cell.runs} seed{'' if cell.runs == 1 else 's'}"


def _grid(cards: Sequence[str]) -> str:
    return f'<div class="cards">{"".join(cards)}</div>'
