"""GCN by hand, its initial law, and weighted edges."""

import math
from types import SimpleNamespace

import torch

from backbones.tiny_graphs import edges, example
from mhaug.backbones import GCN, GraphInput
from mhaug.data.view import View


def test_one_layer_by_hand() -> None:
    """1 receives from 0 and itself: degrees 1 and 2, so its row is x_0 / √2 + x_1 / 2."""
    graph = GraphInput.from_data(SimpleNamespace(x=torch.tensor([[2.0], [4.0]]), edge_index=edges((0, 1))))
    model = GCN(1, 1, layers=1)
    torch.nn.init.ones_(model.layers[0].weight)
    torch.testing.assert_close(model(graph), torch.tensor([[2.0], [math.sqrt(2) + 2]]))
    dropped = View(edge_kept=torch.tensor([False]), node_scale=torch.tensor([1.0, 3.0]))
    torch.testing.assert_close(model(graph, dropped), torch.tensor([[2.0], [12.0]]))


def test_initial_weights_are_glorot_and_biases_zero() -> None:
    layer = GCN(100, 3, hidden=50, rng=torch.Generator().manual_seed(0)).layers[0]
    bound = math.sqrt(6 / 150)
    assert 0.99 * bound < float(layer.weight.detach().abs().max()) <= bound
    assert not layer.bias.any()


def test_float_edges_weigh_as_in_pyg_and_get_a_gradient() -> None:
    from torch_geometric.nn import GCNConv

    case = example()
    not_loops = case.edge_index[0] != case.edge_index[1]
    case = case._replace(edge_index=case.edge_index[:, not_loops])
    ours, theirs = (torch.linspace(0.1, 1.0, 5, dtype=torch.float64).requires_grad_() for _ in range(2))
    model = GCN(5, 2, layers=1).double()
    conv = GCNConv(5, 2).double()
    conv.lin.weight.data = model.layers[0].weight.data.t()
    left, right = model(case.graph, View(edge_kept=ours)), conv(case.x, case.edge_index, theirs)
    torch.testing.assert_close(left, right)
    left.square().sum().backward()
    right.square().sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad)
