"""Both ways to draw edges, against a dense one and against each other."""

from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from methods.allocations import LargestTensor
from methods.edge_sources import (
    EVERY,
    FINDS,
    LAW,
    NODES,
    dense_probability,
    forms,
    some_codes,
    source,
    sparse_codes,
    sparse_source,
)
from mhaug import rng
from mhaug.backbones.catalogue import build_backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.methods.gaug_o import GAugO
from mhaug.methods.parts.all_pairs import AllPairs
from mhaug.methods.parts.edge_sampling import Source
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pair_sampler import PairSampler
from mhaug.methods.parts.proposed_pairs import ProposedPairs


@pytest.mark.parametrize("law", [LAW, replace(LAW, predicted_share=1.0), replace(LAW, density_cap=0.1)])
@pytest.mark.parametrize("form", ["all", "proposed"])
def test_drawn_as_often_as_the_law_says(form, law):
    origin, codes = source(law=law), some_codes().detach()
    find, times = FINDS[form](origin), torch.zeros(NODES, NODES, dtype=torch.float64)
    scale, noises = law.scale(codes, origin.known), []
    for _ in range(3000):
        pairs, noise = find(codes, scale)
        assert KnownPairs.of(pairs, NODES).count == pairs.shape[1]
        times[pairs.amin(0), pairs.amax(0)] += 1.0
        noises.append(noise)
    is_edge = torch.zeros(NODES, NODES, dtype=torch.bool)
    is_edge[tuple(origin.known.index)] = True
    expected = law.probability(codes @ codes.t(), is_edge, scale).triu(1)
    # five deviations of a frequency
    assert ((times / 3000 - expected).abs() <= 5.0 * (expected * (1.0 - expected) / 3000).sqrt() + 1e-9).all()
    # the noise of what is drawn is even on [0, P): half of P in the mean
    mean = expected.square().sum() / expected.sum() / 2.0
    assert float(torch.cat(noises).mean()) == pytest.approx(float(mean), rel=0.03)


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
@pytest.mark.parametrize("form", ["all", "proposed"])
def test_both_forms_are_the_dense_form(form, backbone):
    """Loss and gradient of a dense straight-through sample with the same noise."""
    origin, codes = source(loops=True), some_codes()
    network = build_backbone(backbone, 5, 2, rng=rng.stream(0, "w")).double().eval()
    drawn = forms(origin)[form].draw(codes)
    assert drawn.pairs.shape[1] == NODES * (NODES - 1) // 2
    loss = network(drawn.graph, drawn.view).square().sum()
    noise = torch.ones(NODES, NODES, dtype=torch.float64)
    for u, v in (drawn.pairs, drawn.pairs.flip(0)):
        noise[u, v] = drawn.noise
    probability = dense_probability(codes, origin.known)
    hard = noise < probability
    relaxed = ((probability.clamp(1e-15, 1 - 1e-15).logit() - noise.clamp(1e-15, 1 - 1e-15).logit()) / 0.8).sigmoid()
    dense = torch.triu(hard + relaxed - relaxed.detach(), 1)
    dense = dense + dense.t()
    if backbone == "gcn":
        dense = dense + torch.eye(NODES)
        scale = dense.sum(1).rsqrt()
        dense = scale.unsqueeze(1) * dense * scale
    else:
        # the loop of the input is an ordinary edge to SAGE
        dense = dense + torch.zeros(NODES, NODES).index_put((torch.tensor(3), torch.tensor(3)), torch.tensor(1.0))
        dense = dense / dense.sum(1, keepdim=True).clamp(min=1.0)
    hidden = origin.original.dense_features
    for layer in network.layers:
        hidden = layer(dense, layer.transform(hidden))
        hidden = hidden.relu() if layer is not network.layers[-1] else hidden
    torch.testing.assert_close(loss, hidden.square().sum())
    slopes = [torch.autograd.grad(each, codes)[0] for each in (loss, hidden.square().sum())]
    torch.testing.assert_close(*slopes)
    assert slopes[0].abs().sum() > 0.0


def test_few_absent_pairs_stand_for_all_in_the_mean():
    """The gradient of the sum of all weights is that of Σ relaxed; few absent pairs find it without bias."""
    codes, slopes = some_codes(), {}
    for absent, times in ((EVERY, 400), (8, 1500)):
        sampler, total = forms(source(), absent)["all"], torch.zeros(NODES, 3, dtype=torch.float64)
        for _ in range(times):
            drawn = sampler.draw(codes)
            total += torch.autograd.grad(drawn.view.edge_kept.sum(), codes)[0]
        slopes[absent] = total / times
    assert (slopes[8] - slopes[EVERY]).norm() < 0.15 * slopes[EVERY].norm()


def test_hard_edges_where_weights_are_not_taken():
    codes = some_codes()
    for sampler in forms(source(weighted=False, loops=True)).values():
        drawn = sampler.draw(codes)
        logits = build_backbone("gat", 5, 2, heads=2, hidden=4).double()(drawn.graph, drawn.view)
        assert logits.shape == (NODES, 2)
        assert drawn.view.edge_kept is None or drawn.view.edge_kept.dtype == torch.bool
        kept = (
            drawn.graph.edge_index
            if drawn.view.edge_kept is None
            else drawn.graph.edge_index[:, drawn.view.edge_kept]
        )
        assert kept.shape[1] == 2 * drawn.edges + 1


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_both_forms_with_the_default_shares(share):
    """As many new edges an edge, and a gradient of the same direction and length."""
    origin, codes = sparse_source(300, 700, predicted_share=share), sparse_codes(300, 3.0)
    network = build_backbone("gcn", 4, 2, dropout=0.0, rng=rng.stream(0, "w")).train()
    new, slopes = {}, {}
    for pairs in ("all", "proposed"):
        sampler, counts, total = GAugO(pairs=pairs).sampler(origin), [], torch.zeros_like(codes)
        for _ in range(100):
            drawn = sampler.draw(codes)
            counts.append(int((~origin.known.contains(drawn.pairs[:, : drawn.edges])).sum()) / origin.known.count)
            loss = network(drawn.graph, drawn.view).square().sum()
            total += torch.autograd.grad(loss, codes)[0]
        new[pairs], slopes[pairs] = sum(counts) / len(counts), total.flatten()
    assert new["proposed"] == pytest.approx(new["all"], rel=0.05)
    assert torch.nn.functional.cosine_similarity(*slopes.values(), dim=0) > 0.8
    assert float(slopes["proposed"].norm() / slopes["all"].norm()) == pytest.approx(1.0, abs=0.25)


@pytest.mark.parametrize("backbone", ["gcn", "sage", "gat"])
@pytest.mark.parametrize("form", FINDS)
def test_known_edges_are_drawn_as_they_are(form, backbone):
    """One direction, a repeat, a loop: where each edge is drawn and no other, the graph is the original."""
    columns = torch.tensor([[0, 2, 2, 3, 4, 1], [1, 1, 1, 4, 3, 1]])
    x = torch.rand(6, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    graph = GraphInput.from_data(Data(x=x, edge_index=columns), dtype=torch.float64)
    known, law = KnownPairs.of(columns, 6), replace(LAW, predicted_share=0.0)
    origin = Source(graph, known, law, backbone != "gat", lambda n: torch.full((n,), 0.5, dtype=torch.float64))
    network = build_backbone(backbone, 5, 2, rng=rng.stream(0, "w")).double().eval()
    codes = torch.rand(6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    drawn = PairSampler(origin, FINDS[form](origin), absent=5).draw(codes)
    assert drawn.edges == 3
    torch.testing.assert_close(network(drawn.graph, drawn.view), network(graph))
    # a new pair runs in both directions
    assert origin.times(torch.tensor([[0, 1, 3, 0], [1, 2, 4, 5]])).tolist() == [[1, 0, 1, 1], [0, 2, 1, 1]]


def test_codes_that_are_all_zero_draw_no_new_edge():
    origin = sparse_source(50, 80)
    for pairs in ("all", "proposed"):
        drawn = GAugO(pairs=pairs).sampler(origin).draw(torch.zeros(50, 8, requires_grad=True))
        assert origin.known.contains(drawn.pairs[:, : drawn.edges]).all()


@pytest.mark.parametrize("form", FINDS)
def test_codes_that_are_not_finite_are_left_to_the_loss(form):
    origin = sparse_source(50, 80)
    for broken in (torch.nan, torch.inf):
        codes = torch.full((50, 8), broken)
        assert FINDS[form](origin)(codes, origin.law.scale(codes, origin.known))[0].shape[1] <= origin.known.count


def test_gaug_o_holds_no_tensor_of_all_pairs():
    """3,000 nodes have 4,498,500 pairs."""
    origin, codes = sparse_source(3000, 6000), sparse_codes(3000)
    for find in (AllPairs(origin, block=2**16), ProposedPairs(origin)):
        with LargestTensor() as largest:
            drawn = PairSampler(origin, find, absent=10_000).draw(codes)
            drawn.view.edge_kept.sum().backward()
        assert largest.elements < 400_000
