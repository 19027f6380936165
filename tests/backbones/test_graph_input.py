"""What a layer is given of a graph, and what is refused at the door."""

from types import SimpleNamespace

import pytest
import torch

from backbones.tiny_graphs import edges, example
from mhaug.backbones import GCN, GraphInput
from mhaug.checks import RequestError
from mhaug.data.view import View


def data(**changes: object) -> SimpleNamespace:
    return SimpleNamespace(**{"x": torch.ones(3, 2), "edge_index": edges((0, 1), (1, 2)), **changes})


def test_from_pyg_data() -> None:
    from torch_geometric.data import Data

    graph = GraphInput.from_data(Data(x=torch.ones(3, 2), edge_index=edges((0, 1)), edge_attr=torch.ones(1, 4)))
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (3, 1, 2)
    assert graph.edge_weight is None
    assert graph.edge_attr.shape == (1, 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": None}, "'x' must be a tensor of node features"),
        ({"x": torch.ones(3)}, "'x' must be a tensor of node features"),
        ({"x": torch.full((3, 2), torch.nan)}, "'x' must be finite everywhere"),
        ({"num_nodes": 4}, "'num_nodes' must be the rows of 'x', 3; got 4"),
        ({"edge_index": edges((0, 3))}, "'edge_index' must be made of node numbers in 0..2; got 3"),
        ({"edge_index": None}, "'edge_index' must be a tensor of whole numbers"),
        ({"edge_weight": torch.ones(5)}, "'edge_weight' must be one row an edge; got 5"),
    ],
)
def test_a_bad_graph_is_refused_in_one_line(changes: dict[str, object], message: str) -> None:
    with pytest.raises(RequestError, match=message) as error:
        GraphInput.from_data(data(**changes))
    assert "\n" not in str(error.value)


def test_whole_number_features_become_floats() -> None:
    assert GraphInput.from_data(data(x=torch.ones(3, 2, dtype=torch.long))).features.dtype == torch.float32


def test_to_keeps_everything() -> None:
    graph = GraphInput.from_data(data(edge_weight=torch.ones(2))).to("cpu")
    assert torch.equal(graph.dense_features, torch.ones(3, 2))
    assert torch.equal(graph.edge_weight, torch.ones(2))
    assert graph.connections.with_self.structure.num_entries == 5


def test_other_features_on_the_same_edges_can_want_a_gradient() -> None:
    graph = example().graph
    x = torch.zeros_like(example().x).requires_grad_()
    changed = graph.with_features(x)
    assert changed.connections is graph.connections
    GCN(5, 2).double()(changed).sum().backward()
    assert x.grad.shape == x.shape
    with pytest.raises(RequestError, match="'x' must be of 5 rows"):
        graph.with_features(torch.ones(4, 5))


def test_scaling_and_masks_default_to_the_whole_graph() -> None:
    graph = GraphInput.from_data(data())
    rows = torch.ones(3, 2)
    assert graph.scaled(rows, View()) is rows
    assert graph.scaled(rows, View(node_scale=torch.tensor([0.0, 1.0, 2.0]))).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert graph.kept(View()).tolist() == [True, True]
