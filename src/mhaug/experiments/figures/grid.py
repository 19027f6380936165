"""Figure 5: the chain follows the target, edge by edge, on grids.

The drop probability of each edge under P is found without any chain: on a small grid by going through all subgraphs,
on the 10 x 10 grid (2^180 subgraphs) by weighted independent draws. μ = 0, as in the paper; with the count's term
hardly an edge is dropped then, so the harder target without it, where dozens are, is shown as well.
"""

import numpy as np
import torch
from torch import Tensor

from mhaug.data.toy_graphs import grid_graph
from mhaug.experiments.figures.agreement import agreement_claims, compared
from mhaug.experiments.figures.grid_picture import draw as draw
from mhaug.experiments.figures.importance import importance_draws, log_prob
from mhaug.experiments.figures.request import Record, Request, at_least
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.target import EgoTarget, EgoTerm, edge_target

STRENGTH, SPREAD, HOPS = 0.0, 0.3, 2
SMALL, LARGE = (3, 4), (10, 10)
BATCH = 2**14


def measure(
    request: Request,
    *,
    chains: int = 12,
    draws: int = 15_000,
    independent: int = 200_000,
    large: tuple[int, int] = LARGE,
) -> Record:
    """Drop probabilities by the chain and without it, on both grids, with and without the count's term."""
    rows = []
    for count_weight, size in request.counted([(w, size) for w in (1.0, 0.0) for size in (SMALL, large)], "grids"):
        data = grid_graph(*size)
        graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
        term = EgoTerm(STRENGTH, 0.0, SPREAD, count_weight=count_weight)
        target = edge_target(graph, term, HOPS)
        reference = (
            exact(target)
            if size == SMALL
            else _weighted(target, orbits(graph.unit_edges, size), independent, request.seed)
        )
        sampler = MHAug(edges=term, hops=HOPS)
        trace = sampler.sample(data.to(request.device), draws=draws, warmup=200, chains=chains, seed=request.seed)
        by_chain = 1.0 - trace.edge_kept_share.double().numpy()
        numbers = {"rows": size[0], "columns": size[1], "count_weight": count_weight}
        inner = _inner(graph.unit_edges, size).astype(int).tolist()
        rows.append({**numbers, **reference, **compared(by_chain, reference), "inner": inner})
        rows[-1]["unit_edges"] = graph.unit_edges.tolist()
    return {
        "settings": {"strength": STRENGTH, "spread": SPREAD, "hops": HOPS, "chains": chains, "draws": draws},
        "claims": [claim for row in rows for claim in _claims(row, chains)],
        "grids": rows,
    }


def exact(target: EgoTarget) -> Record:
    """The drop probability of each edge, summed over all 2^M subgraphs."""
    bits = torch.arange(target.units)
    logs, parts = [], []
    for first in range(0, 2**target.units, BATCH):
        numbers = torch.arange(first, min(first + BATCH, 2**target.units))
        dropped = (numbers.unsqueeze(1) >> bits) % 2 == 1
        batch = log_prob(target, dropped)
        logs.append(batch.logsumexp(0))
        parts.append(batch.softmax(0) @ dropped.double())
    probability = torch.stack(logs).softmax(0) @ torch.stack(parts)
    return {"reference": "all subgraphs", "target": probability.tolist(), "target_error": [0.0] * target.units}


def _weighted(target: EgoTarget, alike: Tensor, draws: int, seed: int) -> Record:
    """Estimated; edges that a symmetry carries into each other have the same probability, and share their draws."""
    found = importance_draws(target, draws, seed=seed)
    members = torch.nn.functional.one_hot(alike).double()
    shares = found.dropped.double() @ (members / members.sum(0))
    return {
        "reference": "weighted independent draws",
        "independent_draws": draws,
        "independent_effective": found.effective,
        "target": found.mean(shares)[alike].tolist(),
        "target_error": found.error(shares)[alike].tolist(),
    }


def orbits(unit_edges: Tensor, size: tuple[int, int]) -> Tensor:
    """One number for all edges that turning or mirroring the grid carries into each other, [M]."""
    middle = torch.stack([unit_edges // size[1], unit_edges % size[1]]).sum(1)
    # twice the distance of an edge's middle from the middle of the grid, along both axes
    from_centre = (middle - torch.tensor(size).unsqueeze(1) + 1).abs()
    if size[0] == size[1]:
        from_centre = from_centre.sort(0).values
    return (from_centre[0] * 2 * max(size) + from_centre[1]).unique(return_inverse=True)[1]


def _inner(unit_edges: Tensor, size: tuple[int, int]) -> np.ndarray:
    """Edges that do not touch the rim of the grid."""
    row, column = unit_edges // size[1], unit_edges % size[1]
    inside = (row > 0) & (row < size[0] - 1) & (column > 0) & (column < size[1] - 1)
    return inside.all(0).numpy()


def _claims(row: Record, chains: int) -> list[Record]:
    words = f"{row['rows']} x {row['columns']}, λ₂ = {row['count_weight']:g}"
    distances = agreement_claims(words, row, chains)
    inner = np.array(row["inner"], dtype=bool)
    if not inner.any():
        return distances
    target = np.array(row["target"])
    ratio = float(target[inner].mean() / target[~inner].mean())
    return [*distances, at_least(f"{words}: inner edges drop more than those at the rim: ratio", ratio, 1.0)]
