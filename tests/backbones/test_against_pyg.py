"""Each backbone on a view is PyG's own stack on the filtered graph: logits, and the gradient of every weight."""

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from torch import Tensor, nn

from backbones.tiny_graphs import FEATURES, Case, cases, example
from mhaug.backbones import build_backbone

CLASSES = 3


def _pyg_gcn(layer: nn.Module) -> tuple[nn.Module, list[tuple[Tensor, Tensor]]]:
    from torch_geometric.nn import GCNConv

    conv = GCNConv(*layer.weight.shape)
    return conv, [(layer.weight, conv.lin.weight), (layer.bias, conv.bias)]


def _pyg_sage(layer: nn.Module) -> tuple[nn.Module, list[tuple[Tensor, Tensor]]]:
    from torch_geometric.nn import SAGEConv

    conv = SAGEConv(*layer.own_weight.shape)
    pairs = [(layer.neighbour_weight, conv.lin_l.weight), (layer.own_weight, conv.lin_r.weight)]
    return conv, [*pairs, (layer.bias, conv.lin_l.bias)]


def _pyg_gat(layer: nn.Module) -> tuple[nn.Module, list[tuple[Tensor, Tensor]]]:
    from torch_geometric.nn import GATConv

    heads, outputs = layer.target_attention.shape
    conv = GATConv(layer.weight.shape[0], outputs, heads=heads, concat=layer.concat)
    pairs = [(layer.target_attention, conv.att_dst), (layer.source_attention, conv.att_src)]
    return conv, [*pairs, (layer.weight, conv.lin.weight), (layer.bias, conv.bias)]


TWINS = {"gcn": _pyg_gcn, "sage": _pyg_sage, "gat": _pyg_gat}


def _like(theirs: Tensor, ours: Tensor) -> Tensor:
    """PyG's parameter in our shape: its weights are transposed, its attention vectors have a leading axis."""
    return theirs.reshape(ours.shape) if theirs.dim() == 3 else theirs.t() if theirs.dim() == 2 else theirs


def _assert_same(name: str, case: Case, layers: int = 2) -> None:
    options = {"heads": 2} if name == "gat" else {}
    model = build_backbone(
        name, FEATURES, CLASSES, hidden=4, layers=layers, rng=torch.Generator().manual_seed(1), **options
    )
    model = model.double().eval()
    convs, pairs = zip(*(TWINS[name](layer) for layer in model.layers), strict=True)
    parameters = [pair for layer_pairs in pairs for pair in layer_pairs]
    with torch.no_grad():
        for conv in convs:
            conv.double()
        for ours, theirs in parameters:
            if ours.dim() == 1:
                ours.uniform_(-1, 1)
            _like(theirs, ours).copy_(ours)

    logits = model(case.graph, case.view)
    expected = convs[0](case.scaled_x, case.filtered_edges)
    for conv in convs[1:]:
        expected = conv(expected.relu(), case.filtered_edges)
    torch.testing.assert_close(logits, expected, atol=1e-9, rtol=1e-9)

    direction = torch.linspace(-1, 1, logits.numel(), dtype=torch.float64).view_as(logits)
    (logits * direction).sum().backward()
    (expected * direction).sum().backward()
    for ours, theirs in parameters:
        torch.testing.assert_close(ours.grad, _like(theirs.grad, ours), atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_example(name: str, layers: int) -> None:
    _assert_same(name, example(), layers)


@pytest.mark.parametrize("name", TWINS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_any_graph(name: str, case: Case) -> None:
    _assert_same(name, case)
