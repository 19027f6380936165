"""A stack of networks computes what each of them would: same logits, same gradients, own masks."""

import pytest
import torch
from torch_geometric.data import Data

from mhaug.backbones.catalogue import BACKBONES, build_backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.replicas import replica, stack_networks
from mhaug.backbones.sparse import Sparse
from mhaug.data.view import View

REPLICAS, NODES, FEATURES, CLASSES = 3, 12, 40, 4


def problem(sparse: bool, dtype=torch.float64):
    rng = torch.Generator().manual_seed(0)
    x = torch.rand(NODES, FEATURES, generator=rng, dtype=dtype)
    if sparse:
        x = x * (x > 0.93)
    edge_index = torch.randint(NODES, (2, 30), generator=rng)
    graph = GraphInput.from_data(Data(x=x, edge_index=edge_index), dtype=dtype)
    assert isinstance(graph.features, Sparse) == sparse
    kept = torch.rand(REPLICAS, 30, generator=rng) > 0.4
    scale = torch.rand(REPLICAS, NODES, generator=rng, dtype=dtype)
    return graph, kept, scale


def networks(name: str, **options):
    made = []
    for index in range(REPLICAS):
        rng = torch.Generator().manual_seed(index)
        made.append(build_backbone(name, FEATURES, CLASSES, hidden=8, rng=rng, **options).double())
    return made


@pytest.mark.parametrize("name", BACKBONES)
@pytest.mark.parametrize("sparse", [True, False])
def test_a_stack_is_its_networks_side_by_side(name, sparse):
    graph, kept, scale = problem(sparse)
    alone = networks(name, dropout=0.0, **({"attention_dropout": 0.0} if name == "gat" else {}))
    together = stack_networks(alone)
    logits = together(graph, View(kept, scale))
    assert logits.shape == (REPLICAS, NODES, CLASSES)
    logits.square().sum().backward()
    gradients = {name: parameter.grad for name, parameter in together.named_parameters()}
    for index, network in enumerate(alone):
        own = network(graph, View(kept[index], scale[index]))
        torch.testing.assert_close(logits[index], own)
        own.square().sum().backward()
        for key, parameter in network.named_parameters():
            torch.testing.assert_close(gradients[key][index], parameter.grad)


@pytest.mark.parametrize("name", BACKBONES)
def test_one_mask_or_none_serves_all_replicas(name):
    graph, kept, scale = problem(sparse=True)
    alone = networks(name)
    together = stack_networks(alone).eval()
    for view in (View(), View(kept[0], scale[0])):
        logits = together(graph, view)
        for index, network in enumerate(alone):
            torch.testing.assert_close(logits[index], network.eval()(graph, view))


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("name", BACKBONES)
def test_rates_of_one_and_zero_reach_the_right_replica(name, sparse):
    """Input dropout 1 leaves only what does not depend on X; rate 0 leaves everything."""
    graph, kept, scale = problem(sparse)
    options = {"attention_dropout": 0.0} if name == "gat" else {}
    rng = [torch.Generator().manual_seed(0) for _ in range(2)]
    alone = [
        build_backbone(name, FEATURES, CLASSES, dropout=0.0, input_dropout=rate, hidden=8, rng=g, **options).double()
        for rate, g in zip((0.0, 1.0), rng, strict=True)
    ]
    logits = stack_networks(alone)(graph, View(kept[:2], scale[:2]))
    torch.testing.assert_close(logits[0], alone[0].eval()(graph, View(kept[0], scale[0])))
    nothing = GraphInput(torch.zeros(NODES, FEATURES, dtype=torch.float64), graph.edge_index, graph.connections)
    torch.testing.assert_close(logits[1], alone[1].eval()(nothing, View(kept[1], scale[1])))


def test_one_network_comes_out_of_the_stack_as_it_went_in():
    alone = networks("gat")
    weights = stack_networks(alone).state_dict()
    for index, network in enumerate(alone):
        for name, value in replica(weights, index).items():
            assert torch.equal(value, network.state_dict()[name])


def test_networks_of_several_shapes_do_not_stack():
    wide = build_backbone("gcn", FEATURES, CLASSES, hidden=16)
    with pytest.raises(ValueError, match="'networks' must be of one shape"):
        stack_networks([wide, build_backbone("gcn", FEATURES, CLASSES, hidden=8)])


def test_a_mask_for_the_wrong_number_of_replicas_is_refused():
    graph, kept, _ = problem(sparse=True)
    with pytest.raises(ValueError, match=r"'edge_kept' must be a tensor of shape \(3, 30\); got \(2, 30\)"):
        stack_networks(networks("gcn"))(graph, View(kept[:2]))
