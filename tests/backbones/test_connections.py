"""How kept edges become weights: self-connections, self-loops, repeats, heads."""

import torch

from backbones.tiny_graphs import edges
from mhaug.backbones.connections import Connections, connect


def dense(connections: Connections, kept: torch.Tensor) -> list[list[float]]:
    structure = connections.structure
    matrix = torch.zeros(structure.shape)
    at = (structure.rows, structure.columns)
    return matrix.index_put(at, connections.weights(kept), accumulate=True).tolist()


# 0 → 1 twice, a doubled self-loop at 0, node 2 isolated
EDGES = edges((0, 1), (0, 1), (0, 0), (0, 0))
KEPT = torch.tensor([1.0, 0.0, 1.0, 1.0])


def test_rows_are_targets_and_self_loops_are_absorbed() -> None:
    both = connect(EDGES, 3)
    assert dense(both.with_self, KEPT) == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    assert dense(both.with_self, torch.ones(4)) == [[1, 0, 0], [2, 1, 0], [0, 0, 1]]


def test_for_neighbours_a_self_loop_is_an_edge() -> None:
    assert dense(connect(EDGES, 3).neighbours, KEPT) == [[2, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_both_kinds_share_one_structure() -> None:
    both = connect(EDGES, 3)
    assert both.with_self.structure is both.neighbours.structure
    moved = both.to("cpu")
    assert moved.with_self.structure is moved.neighbours.structure
