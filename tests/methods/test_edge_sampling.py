"""The law of drawn edges, and both ways to draw them against a dense one."""

from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from methods.allocations import LargestTensor
from mhaug import rng
from mhaug.backbones.catalogue import build_backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.methods.parts.all_pairs import AllPairs
from mhaug.methods.parts.candidate_pairs import CandidatePairs
from mhaug.methods.parts.edge_law import EdgeLaw
from mhaug.methods.parts.edge_sampling import Source
from mhaug.methods.parts.known_pairs import KnownPairs

LAW = EdgeLaw(predicted_share=0.6, temperature=0.8, density_cap=100.0)
NODES = 12
EVERY = 10**9


def small_graph(*, loops: bool = False) -> GraphInput:
    generator = torch.Generator().manual_seed(0)
    known = KnownPairs.of(torch.randint(NODES, (2, 25), generator=generator), NODES).index
    columns = [known, known.flip(0)] + ([torch.tensor([[3], [3]])] if loops else [])
    x = torch.rand(NODES, 5, dtype=torch.float64, generator=generator)
    return GraphInput.from_data(Data(x=x, edge_index=torch.cat(columns, 1)), dtype=torch.float64)


def source(*, law: EdgeLaw = LAW, weighted: bool = True, seed: int = 0, loops: bool = False) -> Source:
    graph, generator = small_graph(loops=loops), torch.Generator().manual_seed(seed)
    known = KnownPairs.of(graph.edge_index, NODES)
    return Source(graph, known, law, weighted, lambda n: torch.rand(n, dtype=torch.float64, generator=generator))


def some_codes() -> torch.Tensor:
    codes = torch.rand(NODES, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    return codes.requires_grad_()


def dense_probability(codes: torch.Tensor, known: KnownPairs, law: EdgeLaw = LAW) -> torch.Tensor:
    scores, edges = codes @ codes.t(), torch.zeros(NODES, NODES, dtype=torch.float64)
    edges[known.index[0], known.index[1]] = edges[known.index[1], known.index[0]] = 1.0
    return law.predicted_share * scores / scores.max() + (1.0 - law.predicted_share) * edges


def forms(origin: Source) -> dict:
    """Both forms, where they look at every pair."""
    return {
        "all": AllPairs(origin, absent=EVERY),
        "candidates": CandidatePairs(origin, partners=NODES, random=0, refresh=10),
    }


def test_law_by_hand():
    codes = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 0.5]])
    known = KnownPairs.of(torch.tensor([[0], [2]]), 3)
    # scores 1, 0, 0.5 above the diagonal; the largest on it, 2
    assert float(replace(LAW, predicted_share=1.0).scale(codes, known)) == pytest.approx(0.5)
    # expected new edges 0.75, at most 0.25 · 1 allowed; counts below one are taken as one
    assert float(EdgeLaw(1.0, 1.0, 0.25).scale(codes, known)) == pytest.approx(0.5 * 0.25)
    noise = torch.tensor([0.1, 0.5, 0.9])
    relaxed = EdgeLaw(1.0, 1.0, 1.0).relaxed(torch.tensor([0.5, 0.5, 0.5]), noise)
    # σ(-logit ε) = 1 - ε
    torch.testing.assert_close(relaxed, 1.0 - noise)


def test_cap_bounds_the_expected_number_of_new_edges():
    codes, known = some_codes().detach(), source().known
    law = EdgeLaw(1.0, 1.0, 0.1)
    chance = (law.scale(codes, known) * (codes @ codes.t())).triu(1)
    assert float(chance.sum()) == pytest.approx(0.1 * known.count)


def test_longer_codes_are_the_same_law():
    """So no loss of the classifier can shrink the codes: the gradient has no part along them."""
    codes, origin = some_codes(), source()
    for law in (LAW, replace(LAW, density_cap=0.1)):
        scale = law.scale(codes, origin.known)
        torch.testing.assert_close(law.scale(3.0 * codes, origin.known), scale / 9.0)
        probability = law.probability(codes @ codes.t(), torch.zeros(()), scale)
        (slope,) = torch.autograd.grad((probability * torch.rand_like(probability)).sum(), codes)
        assert abs(float((slope * codes).sum().detach())) < 1e-10 * float(slope.abs().sum())


@pytest.mark.parametrize("form", ["all", "candidates"])
def test_drawn_as_often_as_the_law_says(form):
    origin, codes = source(), some_codes().detach()
    sampler, times = forms(origin)[form], torch.zeros(NODES, NODES, dtype=torch.float64)
    for _ in range(3000):
        drawn = sampler.draw(codes)
        edges = drawn.graph.edge_index[:, drawn.view.edge_kept > 0.5]
        times[edges[0], edges[1]] += 1.0
    assert torch.equal(times, times.t())
    expected = dense_probability(codes, origin.known).fill_diagonal_(0.0).clamp(max=1.0)
    # five deviations of a frequency
    assert ((times / 3000 - expected).abs() <= 5.0 * (expected * (1.0 - expected) / 3000).sqrt() + 1e-9).all()


@pytest.mark.parametrize("backbone", ["gcn", "sage"])
@pytest.mark.parametrize("form", ["all", "candidates"])
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
        sampler, total = AllPairs(source(), absent=absent), torch.zeros(NODES, 3, dtype=torch.float64)
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


def test_candidates_are_chosen_anew_and_keep_the_edges():
    origin, codes = source(), some_codes().detach()
    sampler = CandidatePairs(origin, partners=2, random=3, refresh=2)
    sets = []
    for _ in range(4):
        sampler.draw(codes)
        sets.append(sampler.state_dict()["candidates"])
        assert KnownPairs(NODES, sets[-1]).contains(origin.known.index).all()
    assert torch.equal(sets[0], sets[1])
    assert torch.equal(sets[2], sets[3])
    assert not torch.equal(sets[0], sets[2])  # the random part


def test_gaug_o_holds_no_tensor_of_all_pairs():
    """3,000 nodes have 4,498,500 pairs."""
    generator = torch.Generator().manual_seed(0)
    known = KnownPairs.of(torch.randint(3000, (2, 6000), generator=generator), 3000)
    graph = GraphInput.from_data(
        Data(x=torch.rand(3000, 4), edge_index=torch.cat([known.index, known.index.flip(0)], 1))
    )
    origin = Source(graph, known, LAW, True, lambda n: torch.rand(n, dtype=torch.float64, generator=generator))
    codes = torch.rand(3000, 8, generator=generator).pow(8.0).requires_grad_()
    law = replace(LAW, density_cap=1.0)
    for sampler in (
        AllPairs(replace(origin, law=law), absent=10_000, block=2**16),
        CandidatePairs(replace(origin, law=law), partners=3, random=1000, refresh=1, block=2**16),
    ):
        with LargestTensor() as largest:
            drawn = sampler.draw(codes)
            drawn.view.edge_kept.sum().backward()
        assert largest.elements < 400_000
