"""With every neighbour sampled, a batch of a view gives its seeds what the whole graph gives them."""

import pytest
import torch

from mhaug.backbones.backbone import WHOLE
from mhaug.backbones.catalogue import BACKBONES, build_backbone
from mhaug.backbones.connections import connect
from mhaug.backbones.graph_input import GraphInput
from mhaug.data.view import View, node_scale
from mhaug.minibatch import NeighbourSampler, inference
from mhaug.minibatch.inference import infer, parts
from mhaug.minibatch.inward import inward
from mhaug.minibatch.large_graph import LargeGraph
from minibatch.graphs import awkward_graph, repeated


def some_view(data) -> View:
    rng = torch.Generator().manual_seed(8)
    kept = torch.rand(data.edge_index.shape[1], generator=rng) < 0.6
    return View(kept, node_scale(torch.rand(30, generator=rng) < 0.7))


def network(name: str, layers: int = 2):
    return build_backbone(name, 6, 3, hidden=8, layers=layers, rng=torch.Generator().manual_seed(2)).eval()


@pytest.mark.parametrize("name", BACKBONES)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_seeds_get_what_the_whole_graph_gives(name, layers):
    data = awkward_graph()
    graph, net = LargeGraph.of(data), network(name, layers)
    batch = NeighbourSampler(graph.edges, [-1] * layers).sample(torch.tensor([0, 29, 12]))
    for first_rows in {False, net.gives_first_rows}:
        small = graph.graph_input(batch, graph.rows(batch.n_id), first_rows=first_rows)
        for view in (WHOLE, some_view(data)):
            whole = net(GraphInput.from_data(data), view)
            cut = net(small, graph.cut(view, batch, received=net.reads_received))
            assert torch.allclose(cut[:3], whole[batch.n_id[:3]], atol=1e-5)
            assert not first_rows or len(cut) == 3


def test_gradients_of_the_weights_are_those_of_the_whole_graph():
    data = awkward_graph()
    graph, view, seeds = LargeGraph.of(data), some_view(data), torch.tensor([4, 9, 0])
    found = []
    for batched in (False, True):
        net = network("gcn")
        batch = NeighbourSampler(graph.edges, [-1, -1]).sample(seeds)
        if batched:
            small = graph.graph_input(batch, graph.rows(batch.n_id), first_rows=True)
            logits = net(small, graph.cut(view, batch, received=True))
        else:
            logits = net(GraphInput.from_data(data), view)[seeds]
        logits.square().sum().backward()
        found.append([parameter.grad for parameter in net.parameters()])
    assert all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(*found, strict=True))


def test_a_sampled_layer_is_right_on_average():
    """One GCN layer is linear in the messages: its mean over batches is the whole graph's row.

    4,000 copies of the graph in one batch; the mean of each of three logits must lie within 4.5 standard errors (a
    false alarm in 50,000).
    """
    data, net, copies = awkward_graph(), network("gcn", 1), 4000
    graph = LargeGraph.of(repeated(data, copies))
    seeds = 30 * torch.arange(copies)  # the hub of each
    batch = NeighbourSampler(graph.edges, [4]).sample(seeds, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        whole = net(GraphInput.from_data(data))[0]
        view = graph.cut(WHOLE, batch, received=True)
        draws = net(graph.graph_input(batch, graph.rows(batch.n_id)), view)[:copies].double()
    errors = draws.std(0) / copies**0.5
    assert float(errors.min()) > 0.0
    assert bool(((draws.mean(0) - whole).abs() < 4.5 * errors).all())


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", BACKBONES)
def test_inference_in_parts_is_one_pass(name, sparse, monkeypatch):
    monkeypatch.setattr(inference, "PART", 40)
    monkeypatch.setattr(inference, "ROWS", 7)
    data = awkward_graph()
    if sparse:
        data.x = data.x * (torch.rand(30, 6, generator=torch.Generator().manual_seed(3)) < 0.08)
    net = network(name)
    whole = net(GraphInput.from_data(data))
    assert torch.allclose(infer(net, LargeGraph.of(data), 2), whole, atol=1e-5)


def test_parts_cover_all_nodes_once():
    edges = LargeGraph.of(awkward_graph()).edges
    found = list(parts(edges, 40))
    assert len(found) > 4
    assert torch.equal(torch.cat(found), torch.arange(30))


def test_inward_is_connect_without_the_transposed_pattern():
    graph = LargeGraph.of(awkward_graph())
    batch = NeighbourSampler(graph.edges, [3, 2]).sample(torch.tensor([3, 4, 0]))
    asked = sum(batch.num_sampled_nodes[:2])
    ours, usual = inward(batch, asked), connect(batch.edge_index, batch.num_nodes, asked)
    kept = torch.rand(len(batch.e_id), generator=torch.Generator().manual_seed(1))
    for kind in ("with_self", "neighbours"):
        dense = []
        for made in (getattr(ours, kind), getattr(usual, kind)):
            matrix = torch.zeros(made.structure.shape)
            places = (made.structure.rows.long(), made.structure.columns.long())
            dense.append(matrix.index_put(places, made.weights(kept), accumulate=True))
        assert torch.allclose(*dense)


def test_received_counts_kept_messages_and_no_loops():
    data = awkward_graph()
    graph, view = LargeGraph.of(data), some_view(data)
    source, target = data.edge_index
    expected = torch.bincount(target[view.edge_kept & (source != target)], minlength=30)
    assert torch.equal(graph.received(view), expected.float())
    assert graph.received(view) is graph.received(view)
