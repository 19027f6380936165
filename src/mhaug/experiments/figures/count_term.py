"""Figure 4: what the count's term 1 / C(M, d) is for, on a complete graph.

Almost all subgraphs drop about half of the edges. Without the term these outweigh what is asked of ego-graphs; with
it every number of edges starts with the same weight. The chain's histograms are held against independent weighted
draws: where the chain is not where it was asked to be, that is the target's doing.
"""

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy.stats import norm
from torch import Tensor

from mhaug.data.toy_graphs import complete_graph
from mhaug.experiments.figures.canvas import COLOURS, WIDTH, figure
from mhaug.experiments.figures.importance import Weighted, log_prob
from mhaug.experiments.figures.request import Record, Request, at_least, at_most
from mhaug.rng import Streams, stream
from mhaug.sampling.moves.resample import uniform_subset
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.target import EgoTarget, EgoTerm, edge_target, log_subsets
from mhaug.sampling.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRENGTHS, SPREAD, HOPS = (0.1, 0.9), 0.5, 2
CELLS = 30  # of a histogram


def measure(
    request: Request, *, nodes: int = 100, draws: int = 2000, warmup: int = 2000, independent: int = 3000
) -> Record:
    """The law of the mean ego change, from chains and without them, for each target."""
    data = complete_graph(nodes)
    graph = UnitGraph.from_edge_index(data.edge_index, nodes)
    rows = []
    for count_weight, strength in request.counted(list(product((1.0, 0.0), STRENGTHS)), "chains"):
        term = EgoTerm(strength, 0.0, SPREAD, count_weight=count_weight)
        # all subsets of a size are nearly alike here, so that the paper's own move does well
        sampler = MHAug(edges=term, hops=HOPS, moves="resample", step_size=0.1 if count_weight else 0.03)
        trace = sampler.sample(data.to(request.device), draws=draws, warmup=warmup, thin=5, seed=request.seed)
        ego = _without_chain(edge_target(graph, term, HOPS), nodes, independent, request.seed)
        rows.append({"strength": strength, "count_weight": count_weight, **_row(trace, *ego)})
    settings = {"nodes": nodes, "edges": graph.num_units, "spread": SPREAD, "hops": HOPS}
    return {"settings": settings, "claims": _claims(rows), "targets": rows}


def _row(trace: Trace, draws: Weighted, ego: Tensor) -> Record:
    """What the chains deliver, and what independent draws say of the same target."""
    values = trace.ego_edge_change.numpy()
    row = trace.summary().quantities["ego_edge_change"]
    cells = np.linspace(max(row.mean - 4 * row.sd, 0.0), min(row.mean + 4 * row.sd, 1.0), CELLS + 1)
    weights = draws.shares.numpy()
    return {
        "mean": row.mean,
        "sd": row.sd,
        "error": row.mcse,
        "ess": row.ess_bulk,
        "r_hat": row.r_hat,
        "edges_dropped": float(trace.edge_change.mean()),
        "cells": cells.tolist(),
        "histogram": np.histogram(values, cells, density=True)[0].tolist(),
        "independent": {
            "mean": float(draws.mean(ego)),
            "error": float(draws.error(ego)),
            "ess": draws.effective,
            "histogram": np.histogram(ego.numpy(), cells, weights=weights, density=True)[0].tolist(),
        },
    }


def _without_chain(target: EgoTarget, nodes: int, draws: int, seed: int) -> tuple[Weighted, Tensor]:
    """A count from a close guess of its law, then a uniform subset, weighted by P; and the mean ego changes."""
    term, units = target.term, target.units
    counts = torch.arange(units + 1)
    kept = (1.0 + (nodes - 1) * (1.0 - counts / units)) / nodes
    # as if all ego-graphs changed alike
    guess = -0.5 * nodes * ((1.0 - kept**HOPS - term.strength) / SPREAD) ** 2
    law = (guess.double() + (1.0 - term.count_weight) * log_subsets(units, counts)).log_softmax(0)
    chosen = torch.multinomial(law.exp(), draws, replacement=True, generator=stream(seed, "counts"))
    keys = Streams(seed, "subsets", count=draws)
    weights, egos = [], []
    for first in range(0, draws, 500):
        part = chosen[first : first + 500]
        dropped = ~uniform_subset(torch.stack([one.uniform(units) for one in keys.each[first : first + 500]]), part)
        weights.append(log_prob(target, dropped) + log_subsets(units, part) - law[part])
        egos.append(target.statistics(~dropped).ego_change.mean(1))
    return Weighted(torch.empty(0), torch.cat(weights).softmax(0)), torch.cat(egos)


def _claims(rows: list[Record]) -> list[Record]:
    """What the text says, and whether the chain and the independent draws agree."""
    off = {weight: [abs(r["mean"] - r["strength"]) for r in rows if r["count_weight"] == weight] for weight in (0, 1)}
    without = [row["mean"] for row in rows if row["count_weight"] == 0]
    distances = [
        abs(row["mean"] - row["independent"]["mean"]) / np.hypot(row["error"], row["independent"]["error"])
        for row in rows
    ]
    # the largest of four distances, in standard errors, is beyond this once in a thousand
    limit = round(float(norm.isf(1e-3 / (2 * len(rows)))), 2)
    return [
        at_most("with the count's term: largest distance of the mean from μ", max(off[1]), 0.05),
        at_least("without it: smallest distance of the mean from μ", min(off[0]), 0.1),
        at_most("without it: difference of the means for μ = 0.1 and μ = 0.9", abs(without[0] - without[1]), 0.05),
        at_most("chain and independent draws: largest distance, in standard errors", max(distances), limit),
    ]


def draw(record: Record) -> "Figure":
    """With the term on the left, without it on the right."""
    picture, axes = figure(1, 2, size=(WIDTH, 3.2))
    for axis, weight in zip(axes[0], (1, 0), strict=True):
        rows = [row for row in record["targets"] if row["count_weight"] == weight]
        for row, colour, hatch in zip(rows, COLOURS, ("", "////"), strict=False):
            _histogram(axis, row, colour, hatch)
        axis.set_xlabel("mean ego change")
        axis.set_title(f"{'with' if weight else 'without'} the count's term, λ₂ = {weight}")
        axis.plot([], [], color="black", lw=1.1, label="independent draws")
        axis.plot([], [], color="#555555", lw=1.6, ls="--", label="asked: μ")
        axis.set_xlim(0, 1)
        # above the histograms
        axis.set_ylim(0, 1.75 * axis.get_ylim()[1])
        axis.legend(loc="upper center")
    axes[0, 0].set_ylabel("density")
    return picture


def _histogram(axis: Any, row: Record, colour: str, hatch: str) -> None:
    words = f"chain, μ = {row['strength']:g}: delivered {row['mean']:.2f}"
    style = {"facecolor": colour, "edgecolor": colour, "hatch": hatch, "alpha": 0.4}
    axis.stairs(row["histogram"], row["cells"], fill=True, label=words, **style)
    axis.stairs(row["independent"]["histogram"], row["cells"], color="black", lw=1.1)
    axis.axvline(row["strength"], color=colour, lw=1.6, ls="--")
