"""Small graphs whose structure is known, for examples and tests. All are undirected: both directions are listed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from mhaug import checks
from mhaug.rng import stream

if TYPE_CHECKING:
    from torch_geometric.data import Data


def path_graph(n: int) -> Data:
    """n nodes in a row, n - 1 edges."""
    checks.whole_number(n, "n", 1)
    nodes = torch.arange(n)
    return _graph(torch.stack([nodes[:-1], nodes[1:]]), n)


def grid_graph(rows: int, columns: int) -> Data:
    """A rectangle of nodes, numbered row by row, each joined to its right and lower neighbour."""
    checks.whole_number(rows, "rows", 1)
    checks.whole_number(columns, "columns", 1)
    nodes = torch.arange(rows * columns).view(rows, columns)
    right = torch.stack([nodes[:, :-1].reshape(-1), nodes[:, 1:].reshape(-1)])
    down = torch.stack([nodes[:-1].reshape(-1), nodes[1:].reshape(-1)])
    return _graph(torch.cat([right, down], dim=1), rows * columns)


def complete_graph(n: int) -> Data:
    """n nodes, every two of them joined."""
    checks.whole_number(n, "n", 1)
    return _graph(torch.combinations(torch.arange(n)).T, n)


def star_graph(leaves: int) -> Data:
    """Node 0 in the middle, joined to nodes 1..leaves."""
    checks.whole_number(leaves, "leaves", 1)
    ends = torch.arange(1, leaves + 1)
    return _graph(torch.stack([torch.zeros_like(ends), ends]), leaves + 1)


def planted_partition(
    classes: int = 3,
    nodes_per_class: int = 100,
    *,
    p_in: float = 0.05,
    p_out: float = 0.005,
    features: int = 16,
    noise: float = 2.0,
    seed: int = 0,
) -> Data:
    """A graph of hidden groups that are to be found again: `x` and the edges both tell of the class, neither alone.

    Two nodes are joined with probability `p_in` in the same class and `p_out` otherwise. Features are the centre of
    the class, drawn from a standard normal, plus normal noise of standard deviation `noise`.
    """
    checks.whole_number(classes, "classes", 2)
    checks.whole_number(nodes_per_class, "nodes_per_class", 1)
    checks.whole_number(features, "features", 1)
    checks.number_in(p_in, "p_in", 0.0, 1.0)
    checks.number_in(p_out, "p_out", 0.0, 1.0)
    checks.number_in(noise, "noise", 0.0)
    rng = stream(seed, "planted-partition")
    labels = torch.arange(classes).repeat_interleave(nodes_per_class)
    pairs = torch.combinations(torch.arange(len(labels))).T
    chance = torch.where(labels[pairs[0]] == labels[pairs[1]], p_in, p_out)
    joined = torch.rand(len(chance), generator=rng) < chance
    centres = torch.randn(classes, features, generator=rng)
    x = centres[labels] + noise * torch.randn(len(labels), features, generator=rng)
    graph = _graph(pairs[:, joined], len(labels))
    graph.x, graph.y = x, labels
    return graph


def _graph(pairs: Tensor, num_nodes: int) -> Data:
    from torch_geometric.data import Data
    from torch_geometric.utils import to_undirected

    return Data(x=torch.ones(num_nodes, 1), edge_index=to_undirected(pairs, num_nodes=num_nodes))
