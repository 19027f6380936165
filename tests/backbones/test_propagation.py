"""Mixed-order propagation by hand, against dense powers, and past the weights."""

import pytest
import torch

from backbones.tiny_graphs import Case, edges, example
from mhaug.backbones.propagation import mixed_order, symmetric_average
from mhaug.data.view import View


def test_two_nodes_by_hand() -> None:
    """Â is ½ throughout: (1, 0) becomes (½, ½) and stays there, so the mean over orders 0 to 3 is (⅝, ⅜)."""
    pair = Case(torch.ones(2, 1, dtype=torch.float64), edges((0, 1), (1, 0)), View())
    rows = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    for order, expected in ((0, [1.0, 0.0]), (1, [0.75, 0.25]), (3, [0.625, 0.375])):
        assert mixed_order(pair.graph, rows, order).flatten().tolist() == pytest.approx(expected)


def test_dense_powers_and_copies() -> None:
    graph = example().graph
    matrix = symmetric_average(graph).to_dense()
    rows = torch.randn(5, 3, 2, dtype=torch.float64)
    expected = sum(torch.einsum("ij,jsd->isd", matrix.matrix_power(k), rows) for k in range(4)) / 4
    torch.testing.assert_close(mixed_order(graph, rows, 3), expected)


def test_it_commutes_with_weights_and_with_scaled_rows() -> None:
    case = example()
    weights, scale = torch.randn(5, 4, dtype=torch.float64), case.view.node_scale.unsqueeze(1)
    wide = mixed_order(case.graph, scale * case.x, 3) @ weights
    narrow = mixed_order(case.graph, scale * (case.x @ weights), 3)
    torch.testing.assert_close(narrow, wide)


def test_the_matrix_is_made_once() -> None:
    graph = example().graph
    assert symmetric_average(graph) is symmetric_average(graph)
