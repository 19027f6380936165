"""The picture of training: learning curves of two methods, and the chain that one of them learned from."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mhaug.experiments.figures.canvas import COLOURS, figure
from mhaug.experiments.record import RunRecord

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def training_figure(records: list[RunRecord], *, chain_of: str = "mh-aug") -> "Figure":
    """Test accuracy of every run by method, the losses, and the change ratios of the first run of `chain_of`."""
    picture, axes = figure(1, 3, size=(12, 3.4))
    curves, losses, changes = axes[0]
    methods = list(dict.fromkeys(record.spec.method for record in records))
    for colour, method in zip(COLOURS, methods, strict=False):
        _curves(curves, [record for record in records if record.spec.method == method], method, colour)
    _finish(curves, "update", "test accuracy", "Learning curves (band: all seeds)")
    chain = next(record for record in records if record.spec.method == chain_of)
    for colour, (name, row) in zip(COLOURS, _named(chain, "loss_").items(), strict=False):
        losses.plot(row, color=colour, lw=0.9, label=name)
    losses.set_yscale("log")
    _finish(losses, "update", "loss", f"{chain_of}, seed {chain.spec.seed}: terms, unweighted")
    for colour, part in zip(COLOURS, ("edge", "node"), strict=False):
        if f"{part}_change" in chain.history:
            delivered = np.mean(chain.history[f"ego_{part}_change"])
            changes.plot(chain.history[f"{part}_change"], color=colour, lw=0.9, label=f"{part}s dropped")
            changes.axhline(
                delivered, color=colour, lw=1, ls="--", label=f"mean ego change, {part}s: {delivered:.2f}"
            )
    changes.set_ylim(0, None)
    _finish(changes, "update", "share", f"The chain: {chain.acceptance_rate:.0%} of candidates accepted")
    return picture


def _curves(axes: Any, records: list[RunRecord], method: str, colour: str) -> None:
    length = min(len(record.history["test_accuracy"]) for record in records)
    rows = np.array([record.history["test_accuracy"][:length] for record in records])
    final = np.mean([record.test_accuracy for record in records])
    axes.fill_between(range(length), rows.min(0), rows.max(0), color=colour, alpha=0.15, lw=0)
    axes.plot(rows.mean(0), color=colour, lw=1.2, label=f"{method}: {final:.1%}")
    axes.set_ylim(max(0.0, float(rows.mean(0)[-1]) - 0.25), None)


def _named(record: RunRecord, prefix: str) -> dict[str, list[float]]:
    return {name.removeprefix(prefix): row for name, row in record.history.items() if name.startswith(prefix)}


def _finish(axes: Any, x: str, y: str, title: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=9, loc="left")
    axes.legend(fontsize=7, frameon=False)
