"""The small pictures of a cell: what the network learned, and what the chain did."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mhaug.experiments.figures.canvas import COLOURS, figure
from mhaug.experiments.record import RunRecord
from mhaug.experiments.report.series import Series, names, series, strength

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZE = (4.4, 4.3)  # inches; a card is about as wide on a telephone
STYLES = ("-", "--", ":", "-.")  # told apart without colours too

Limits = tuple[float, float]


def accuracy_limits(records: Sequence[RunRecord]) -> Limits | None:
    """One scale for all cards of a graph: what is reached after the first tenth of training."""
    values: list[float] = []
    for record in records:
        for name in ("validation_accuracy", "test_accuracy"):
            row = record.history.get(name, [])
            values += row[len(row) // 10 :]
    if not values:
        return None
    room = max(0.05 * (max(values) - min(values)), 0.005)
    return 100 * (min(values) - room), 100 * (max(values) + room)


def learning_picture(records: Sequence[RunRecord], limits: Limits) -> "Figure":
    """Accuracies above, the terms of the loss below; ticks where each seed validated best."""
    picture, axes = figure(2, 1, size=SIZE, sharex=True, height_ratios=(3, 2))
    above, below = axes[:, 0]
    for number, part in enumerate(("validation", "test")):
        _band(above, series(records, f"{part}_accuracy"), part, number, scale=100)
    above.plot([r.best_update for r in records], [0.02] * len(records), "|", color="#555555", ms=7,
               transform=above.get_xaxis_transform(), clip_on=False)  # fmt: skip
    above.set_ylim(*limits)
    _finish(above, "accuracy, %", legend="lower right")
    losses = sorted(names(records, "loss_"), key=lambda name: (name != "loss_total", name))
    # where the total is the only term, it is shown once
    for number, name in enumerate(losses if len(losses) > 2 else losses[:1]):
        _band(below, series(records, name), name.removeprefix("loss_"), number)
    _logarithmic(below)
    _finish(below, "loss")
    below.set_xlabel("updates")
    return picture


def chain_picture(records: Sequence[RunRecord]) -> "Figure":
    """Acceptance above; below, how much of the graph is changed, and how much was asked for."""
    picture, axes = figure(2, 1, size=SIZE, sharex=True, height_ratios=(2, 3))
    above, below = axes[:, 0]
    _band(above, series(records, "acceptance"), "", 7, style="-")
    above.set_ylim(0, 1.02)
    _finish(above, "accepted", legend=None)
    for number, part in enumerate(("edge", "node")):
        _band(below, series(records, f"ego_{part}_change"), f"{part}s: mean ego change", number, style="-")
        _band(below, series(records, f"{part}_change"), f"{part}s dropped", number, style="--")
        asked = strength(records[0], part)
        if asked is not None and f"ego_{part}_change" in records[0].history:
            below.axhline(asked, color=COLOURS[number], lw=1, ls=":", label=f"{part}s: μ = {asked:g}")
    below.set_ylim(0, 1.02)
    _finish(below, "share changed", legend=None)
    below.set_xlabel("updates")
    # the lines of μ would run through a legend inside
    picture.legend(*below.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return picture


def _band(
    axes: Any, curve: Series | None, label: str, number: int, *, scale: float = 1, style: str | None = None
) -> None:
    if curve is None:
        return
    colour = COLOURS[number % len(COLOURS)]
    axes.fill_between(curve.updates, scale * curve.low, scale * curve.high, color=colour, alpha=0.18, lw=0)
    axes.plot(curve.updates, scale * curve.mean, style or STYLES[number % 4], color=colour, lw=1.3, label=label)


def _logarithmic(axes: Any) -> None:
    """A scale of powers of ten where the curves allow it, with plain numbers at few places."""
    from matplotlib.ticker import LogLocator, NullFormatter

    values = np.concatenate([line.get_ydata() for line in axes.lines] or [np.zeros(1)])
    positive = values[values > 0]
    if len(positive) == 0:
        return
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())
    if positive.max() < 30 * positive.min():
        axes.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
        axes.yaxis.set_minor_formatter("{x:g}")
    axes.tick_params(which="minor", labelsize=8)


def _finish(axes: Any, words: str, *, legend: str | None = "best") -> None:
    axes.set_ylabel(words, fontsize=9)
    axes.tick_params(labelsize=8)
    if legend is not None and axes.lines:
        axes.legend(fontsize=8, frameon=False, loc=legend)
