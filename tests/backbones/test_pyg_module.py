"""A user's own module as a backbone."""

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from backbones.tiny_graphs import edges, example
from mhaug.backbones import GraphInput, PyGModule
from mhaug.checks import RequestError
from mhaug.data.view import View


class Recorder(nn.Module):
    """Keeps what it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        self.seen = (x, edge_index, edge_weight)
        return self.linear(x)


class Shape(nn.Module):
    def __init__(self, *shape: int) -> None:
        super().__init__()
        self.shape = shape

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return torch.zeros(self.shape)


@pytest.fixture
def graph() -> GraphInput:
    weight, attr = torch.tensor([0.1, 0.2, 0.3]), torch.arange(3.0).view(3, 1)
    data = {"x": torch.ones(3, 2), "edge_index": edges((0, 1), (1, 2), (2, 0)), "edge_weight": weight}
    return GraphInput.from_data(SimpleNamespace(**data, edge_attr=attr))


def test_a_view_removes_columns_in_line(graph: GraphInput) -> None:
    module = Recorder()
    view = View(torch.tensor([True, False, True]), torch.tensor([0.0, 1.0, 2.0]))
    assert PyGModule(module)(graph, view).shape == (3, 3)
    x, edge_index, edge_weight = module.seen
    assert x.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert edge_index.tolist() == [[0, 2], [1, 0]]
    torch.testing.assert_close(edge_weight, torch.tensor([0.1, 0.3]))


def test_edge_inputs_go_to_modules_that_name_them(graph: GraphInput) -> None:
    from torch_geometric.nn import GATConv, GCNConv

    gcn, gat = GCNConv(2, 3), GATConv(2, 3, edge_dim=1)
    torch.testing.assert_close(PyGModule(gcn)(graph), gcn(graph.features, graph.edge_index, graph.edge_weight))
    expected = gat(graph.features, graph.edge_index, graph.edge_attr)
    torch.testing.assert_close(PyGModule(gat)(graph), expected)


def test_views_and_training() -> None:
    from torch_geometric.nn import GCN

    case = example()
    model = PyGModule(GCN(5, 8, num_layers=2, out_channels=3).double(), num_classes=3)
    logits = model.views(case.graph, [View(), case.view])
    torch.testing.assert_close(logits[1], model.module(case.scaled_x, case.filtered_edges))
    logits[1].sum().backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize("shape", [(3,), (2, 3), (3, 4)])
def test_a_wrong_shape_is_one_clear_line(graph: GraphInput, shape: tuple[int, ...]) -> None:
    with pytest.raises(RequestError, match=r"'output of Shape' must be a tensor of shape \(3, 3\); got \("):
        PyGModule(Shape(*shape), num_classes=3)(graph)


def test_modules_and_masks_that_cannot_work(graph: GraphInput) -> None:
    with pytest.raises(RequestError, match=r"'module' must be a module with forward\(x, edge_index, ...\)"):
        PyGModule(nn.Linear(2, 3))
    with pytest.raises(RequestError, match="'edge_kept' must be a bool tensor"):
        PyGModule(Recorder())(graph, View(edge_kept=torch.ones(3)))


def test_reset_draws_from_the_generator_and_leaves_the_global_one_alone() -> None:
    model = PyGModule(Recorder())
    before = torch.get_rng_state()
    weights = []
    for seed in (1, 1, 2):
        model.reset_parameters(torch.Generator().manual_seed(seed))
        weights.append(model.module.linear.weight.detach().clone())
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    model.reset_parameters()
    assert not torch.equal(torch.get_rng_state(), before)
