"""GAT: what is its own."""

import pytest
import torch

from backbones.tiny_graphs import example
from mhaug.backbones import GAT
from mhaug.checks import RequestError
from mhaug.data.view import View


def test_hidden_is_shared_out_and_the_output_heads_are_averaged() -> None:
    model = GAT(5, 3, hidden=64)
    assert [tuple(layer.weight.shape) for layer in model.layers] == [(5, 64), (64, 24)]
    assert [layer.bias.shape[0] for layer in model.layers] == [64, 3]


def test_without_edges_a_node_attends_to_itself() -> None:
    case, model = example(), GAT(5, 3, layers=1, heads=1).double().eval()
    nothing = View(edge_kept=torch.zeros(6, dtype=torch.bool))
    torch.testing.assert_close(model(case.graph, nothing), case.x @ model.layers[0].weight)


def test_attention_dropout_alone_changes_the_output() -> None:
    model = GAT(5, 3, dropout=0.0, attention_dropout=0.9).double()
    graph = example().graph
    assert not torch.equal(model(graph), model(graph))
    assert torch.equal(model.eval()(graph), model(graph))


def test_requests_that_make_no_sense() -> None:
    with pytest.raises(RequestError, match="'hidden' must be a multiple of the 8 heads; got 60"):
        GAT(5, 3, hidden=60)
    with pytest.raises(RequestError, match="'attention_dropout' must be a number in"):
        GAT(5, 3, attention_dropout=1.5)
    with pytest.raises(RequestError, match="'edge_kept' must be a bool tensor for GAT"):
        GAT(5, 3).double()(example().graph, View(edge_kept=torch.ones(6)))
