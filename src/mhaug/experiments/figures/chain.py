"""The picture of a trace: where the chains went, what they deliver beside what was asked, and how well they mix."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mhaug.experiments.figures.canvas import COLOURS, figure
from mhaug.sampling.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def chain_figure(trace: Trace, *, title: str = "") -> "Figure":
    """One row for each part that is dropped: trace, marginal beside μ, ranks of each chain, autocorrelation."""
    summary = trace.summary()
    parts = list(summary.units)
    size = (13, 0.6 + 2.7 * len(parts))
    picture, axes = figure(len(parts), 4, size=size, width_ratios=(2.0, 1, 1, 1))
    for row, part in zip(axes, parts, strict=True):
        quantity = summary.quantities[f"ego_{part[:-1]}_change"]
        draws = getattr(trace, f"ego_{part[:-1]}_change").numpy()
        _trace(row[0], draws, part, legend=part == parts[0])
        row[0].set_title(f"ESS {quantity.ess_bulk:.0f},  R-hat {quantity.r_hat:.3f}", fontsize=9, loc="right")
        _marginal(row[1], draws, summary.strength[part], summary.delivered[part])
        row[1].sharey(row[0])
        _ranks(row[2], draws)
        _autocorrelation(row[3], draws)
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


def _ranks(axes: Any, draws: np.ndarray) -> None:
    """How often each chain holds the low, middle and high ranks of all draws: level lines when the chains agree."""
    bins = 20
    ranks = draws.ravel().argsort().argsort().reshape(draws.shape)
    for number, chain in enumerate(ranks):
        shares = np.histogram(chain, bins=bins, range=(0, ranks.size))[0] / (chain.size / bins)
        axes.stairs(shares, np.linspace(0, 1, bins + 1), color=COLOURS[number % len(COLOURS)], lw=1)
    axes.axhline(1.0, color="#888888", lw=0.8, ls=":")
    axes.set_ylim(0, None)
    axes.set_xlabel("rank among all draws")
    axes.set_ylabel("share of a chain")


def _autocorrelation(axes: Any, draws: np.ndarray) -> None:
    lags = min(60, draws.shape[1] // 2)
    for number, chain in enumerate(draws):
        centred = chain - chain.mean()
        power = np.abs(np.fft.rfft(centred, 2 * len(chain))) ** 2
        correlation = np.fft.irfft(power)[:lags]
        scale = correlation[0] if correlation[0] > 0 else 1.0
        axes.plot(correlation / scale, color=COLOURS[number % len(COLOURS)], lw=1)
    axes.axhline(0.0, color="#888888", lw=0.8, ls=":")
    axes.set_xlabel("lag (draws)")
    axes.set_ylabel("autocorrelation")
