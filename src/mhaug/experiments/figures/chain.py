"""The picture of a trace: where the chains went, and what they deliver beside what was asked."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mhaug.experiments.figures.canvas import COLOURS, figure
from mhaug.sampling.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def chain_figure(trace: Trace, *, title: str = "") -> "Figure":
    """One row for each part that is dropped: the ego change over the draws, and its marginal beside μ."""
    summary = trace.summary()
    parts = list(summary.units)
    size = (9.5, 0.6 + 2.6 * len(parts))
    picture, axes = figure(len(parts), 2, size=size, width_ratios=(2.4, 1), sharey="row")
    for (left, right), part in zip(axes, parts, strict=True):
        quantity = summary.quantities[f"ego_{part[:-1]}_change"]
        draws = getattr(trace, f"ego_{part[:-1]}_change").numpy()
        _trace(left, draws, part, legend=part == parts[0])
        left.set_title(f"ESS {quantity.ess_bulk:.0f},  R-hat {quantity.r_hat:.3f}", fontsize=9, loc="right")
        _marginal(right, draws, summary.strength[part], summary.delivered[part])
    rates = ",  ".join(f"{name} {rate:.0%}" for name, rate in summary.acceptance.items())
    picture.suptitle(f"{title}   accepted: {rates}".strip(), fontsize=10, x=0.01, ha="left")
    return picture


def _trace(axes: Any, draws: np.ndarray, part: str, *, legend: bool) -> None:
    for number, chain in enumerate(draws):
        axes.plot(chain, color=COLOURS[number % len(COLOURS)], lw=0.7, alpha=0.85, label=f"chain {number}")
    axes.set_xlabel("draw")
    axes.set_ylabel(f"ego change, {part}\n(mean over nodes)")
    if legend and len(draws) <= len(COLOURS):
        axes.legend(fontsize=7, ncols=4, frameon=False, loc="best")


def _marginal(axes: Any, draws: np.ndarray, strength: float, delivered: float) -> None:
    axes.hist(draws.ravel(), bins=40, orientation="horizontal", density=True, color="#BBBBBB")
    axes.axhline(strength, color=COLOURS[1], lw=1.5, ls="--", label=f"μ = {strength:g}")
    axes.axhline(delivered, color=COLOURS[7], lw=1.5, label=f"delivered {delivered:.3f}")
    axes.set_xlabel("density")
    axes.legend(fontsize=8, frameon=False, loc="best")
