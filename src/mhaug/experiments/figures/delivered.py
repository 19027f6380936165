"""Beyond the paper: μ is called the expected strength; the mean ego change that the target delivers is another."""

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mhaug.experiments.figures.canvas import COLOURS, WIDTH, figure
from mhaug.experiments.figures.request import Record, Request, at_least, at_most
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.target import EgoTerm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPREADS, HOPS = (0.1, 0.3, 1.0, 100.0), 2
STRENGTHS = (0.0, 0.1, 0.3, 0.5, 0.7, 1.0)
R_HAT = 1.1  # means are drawn, and their standard errors claimed: chains need not agree as closely as for a law
MOVES = 1e-3  # standard deviation over draws below which a mean does not move: R-hat of such digits says nothing
MARKS = ("o-", "s--", "^-.", "D:", "v-")


def measure(
    request: Request,
    *,
    strengths: tuple[float, ...] = STRENGTHS,
    draws: int = 500,
    warmup: int = 300,
    chains: int = 4,
) -> Record:
    """The mean ego change of edges and of nodes, for every pair of μ and σ."""
    data = request.graph()
    rows = []
    for spread, strength in request.counted(list(product(SPREADS, strengths)), "chains"):
        term = EgoTerm(strength, 0.0, spread)
        # the two parts share no variable: one chain serves both
        sampler = MHAug(edges=term, nodes=term, hops=HOPS, step_size=0.1)
        trace = sampler.sample(data, draws=draws, warmup=warmup, chains=chains, seed=request.seed)
        summary = trace.summary()
        for part in ("edges", "nodes"):
            ego, full = (summary.quantities[f"{kind}{part[:-1]}_change"] for kind in ("ego_", ""))
            moves = ego.sd >= MOVES
            rows.append(
                {
                    "part": part,
                    "strength": strength,
                    "spread": spread,
                    "delivered": ego.mean,
                    "error": ego.mcse if math.isfinite(ego.mcse) else None,
                    "sd_over_draws": ego.sd,
                    "sd_over_nodes_and_draws": summary.delivered_spread[part],
                    "dropped": full.mean,
                    "r_hat": ego.r_hat if moves else None,
                }
            )
    settings = {"hops": HOPS, "chains": chains, "draws": draws}
    return {"settings": settings, "claims": _claims(rows), "rows": rows}


def _claims(rows: list[Record]) -> list[Record]:
    """What is delivered follows what is asked, but is not it."""
    claims = []
    for part in ("edges", "nodes"):
        table = {spread: [r for r in rows if r["part"] == part and r["spread"] == spread] for spread in SPREADS}
        step = min(_steps(table[spread]).min() for spread in SPREADS if spread <= 1.0)
        off = max(abs(row["delivered"] - row["strength"]) for row in table[1.0])
        flat = np.ptp([row["delivered"] for row in table[SPREADS[-1]]])
        claims += [
            at_least(
                f"{part}: a larger μ delivers more, for σ up to 1: smallest step, in standard errors", step, 3.0
            ),
            at_least(f"{part}: it is not what was asked, at σ = 1: largest distance", off, 0.02),
            at_most(f"{part}: a flat target does not ask, σ = {SPREADS[-1]:g}: range", flat, 0.1),
        ]
    errors = max(row["error"] for row in rows if row["error"] is not None)
    worst = max(row["r_hat"] for row in rows if row["r_hat"] is not None)
    words = f"chains agree, where the mean moves by {MOVES:g} or more: largest R-hat"
    return [*claims, at_most("largest standard error", errors, 0.02), at_most(words, worst, R_HAT)]


def _steps(rows: list[Record]) -> np.ndarray:
    """From each μ to the next, in standard errors; of means that do not move at all, the errors are 0."""
    means, errors = (np.array([row[name] or 0.0 for row in rows]) for name in ("delivered", "error"))
    with np.errstate(divide="ignore"):
        return np.diff(means) / np.hypot(errors[1:], errors[:-1])


def draw(record: Record) -> "Figure":
    """Edges on the left, nodes on the right; the diagonal is what was asked."""
    picture, axes = figure(1, 2, size=(WIDTH, 3.9), sharey=True)
    for axis, part in zip(axes[0], ("edges", "nodes"), strict=True):
        axis.plot([0, 1], [0, 1], color="#999999", lw=1.2, label="as asked")
        rows = [row for row in record["rows"] if row["part"] == part]
        for colour, mark, spread in zip(COLOURS, MARKS, dict.fromkeys(row["spread"] for row in rows), strict=False):
            _line(axis, [row for row in rows if row["spread"] == spread], colour, mark)
        axis.set(xlabel="asked: μ", title=f"{part} of {record['dataset']}", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        axis.set_aspect("equal")
    axes[0, 0].set_ylabel("delivered: mean ego change")
    axes[0, 0].legend(loc="upper left")
    return picture


def _line(axis: Any, rows: list[Record], colour: str, mark: str) -> None:
    values = ([row[name] for row in rows] for name in ("strength", "delivered"))
    axis.plot(*values, mark, color=colour, ms=5, lw=1.5, label=f"σ = {rows[0]['spread']:g}")
