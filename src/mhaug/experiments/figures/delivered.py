"""Beyond the paper: μ is called the expected strength; the mean ego change that the target delivers is another."""

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from mhaug.experiments.figures.canvas import COLOURS, figure
from mhaug.experiments.figures.request import Record, Request, at_least, at_most
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.target import EgoTerm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPREADS, HOPS = (0.1, 0.3, 1.0, 10.0, 100.0), 2
STRENGTHS = tuple(step / 10 for step in range(11))
MARKS = ("o-", "s--", "^-.", "D:", "v-")


def measure(
    request: Request,
    *,
    strengths: tuple[float, ...] = STRENGTHS,
    draws: int = 250,
    warmup: int = 500,
    chains: int = 2,
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
            rows.append(
                {
                    "part": part,
                    "strength": strength,
                    "spread": spread,
                    "delivered": ego.mean,
                    "error": ego.mcse,
                    "sd_over_draws": ego.sd,
                    "sd_over_nodes_and_draws": summary.delivered_spread[part],
                    "dropped": full.mean,
                    "r_hat": ego.r_hat,
                }
            )
    settings = {"hops": HOPS, "chains": chains, "draws": draws}
    return {"settings": settings, "claims": _claims(rows), "rows": rows}


def _claims(rows: list[Record]) -> list[Record]:
    """What is delivered follows what is asked, but is not it."""
    claims = []
    for part in ("edges", "nodes"):
        table = {
            spread: np.array([row["delivered"] for row in rows if row["part"] == part and row["spread"] == spread])
            for spread in SPREADS
        }
        asked = np.array([row["strength"] for row in rows if row["part"] == part and row["spread"] == SPREADS[0]])
        step = min(np.diff(table[spread]).min() for spread in SPREADS if spread <= 1.0)
        off = np.abs(table[1.0] - asked).max()
        claims += [
            at_least(f"{part}: a larger μ delivers more, for σ up to 1: smallest step", step, -0.01),
            at_least(f"{part}: it is not what was asked, at σ = 1: largest distance", off, 0.02),
            at_most(
                f"{part}: a flat target does not ask, σ = {SPREADS[-1]:g}: range", np.ptp(table[SPREADS[-1]]), 0.1
            ),
        ]
    worst = max(row["r_hat"] for row in rows)
    return [*claims, at_most("chains agree: largest R-hat", worst, 1.2)]


def draw(record: Record) -> "Figure":
    """Edges on the left, nodes on the right; the diagonal is what was asked."""
    picture, axes = figure(1, 2, size=(9.2, 4.6), sharey=True)
    for axis, part in zip(axes[0], ("edges", "nodes"), strict=True):
        axis.plot([0, 1], [0, 1], color="#999999", lw=1.2, label="as asked")
        rows = [row for row in record["rows"] if row["part"] == part]
        for colour, mark, spread in zip(COLOURS, MARKS, dict.fromkeys(row["spread"] for row in rows), strict=False):
            _line(axis, [row for row in rows if row["spread"] == spread], colour, mark)
        axis.set(xlabel="asked: μ", title=f"{part} of {record['dataset']}", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        axis.title.set_fontsize(11)
        axis.set_aspect("equal")
    axes[0, 0].set_ylabel("delivered: mean ego change")
    axes[0, 0].legend(frameon=False, fontsize=9, loc="upper left")
    return picture


def _line(axis: Any, rows: list[Record], colour: str, mark: str) -> None:
    values = ([row[name] for row in rows] for name in ("strength", "delivered"))
    axis.plot(*values, mark, color=colour, ms=5, lw=1.5, label=f"σ = {rows[0]['spread']:g}")
