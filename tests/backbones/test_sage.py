"""SAGE by hand, and its initial law."""

from types import SimpleNamespace

import torch

from backbones.tiny_graphs import edges
from mhaug.backbones import SAGE, GraphInput
from mhaug.data.view import View


def test_one_layer_by_hand() -> None:
    """2 receives from 0 and 1; W_l = 1, W_r = 10, b = 0."""
    x = torch.tensor([[2.0], [4.0], [1.0]])
    graph = GraphInput.from_data(SimpleNamespace(x=x, edge_index=edges((0, 2), (1, 2))))
    model = SAGE(1, 1, layers=1)
    for parameter, value in zip(model.layers[0].parameters(), (1.0, 10.0, 0.0), strict=True):
        torch.nn.init.constant_(parameter, value)
    assert model(graph).flatten().tolist() == [20.0, 40.0, 13.0]
    assert model(graph, View(torch.tensor([True, False]))).flatten().tolist() == [20.0, 40.0, 12.0]
    assert model(graph, View(torch.tensor([False, False]))).flatten().tolist() == [20.0, 40.0, 10.0]


def test_float_edges_make_a_weighted_mean() -> None:
    graph = GraphInput.from_data(SimpleNamespace(x=torch.ones(3, 1), edge_index=edges((0, 2), (1, 2))))
    values = SAGE(1, 1).edge_values(graph, View(torch.tensor([1.0, 3.0]))).values
    assert sorted(values.tolist()) == [0.0, 0.0, 0.0, 0.25, 0.75]


def test_initial_parameters_follow_the_law_of_linear() -> None:
    layer = SAGE(100, 3, hidden=200, rng=torch.Generator().manual_seed(0)).layers[0]
    for parameter in layer.parameters():
        assert 0.09 < float(parameter.detach().abs().max()) <= 0.1
