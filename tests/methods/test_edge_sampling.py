"""The law of drawn edges, and both ways to draw them against a dense one."""

from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from methods.allocations import LargestTensor
from mhaug import rng
from mhaug.backbones.catalogue import build_backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.methods.gaug_o import GAugO
from mhaug.methods.parts.all_pairs import AllPairs
from mhaug.methods.parts.edge_law import EdgeLaw
from mhaug.methods.parts.edge_sampling import Source
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pair_sampler import PairSampler
from mhaug.methods.parts.proposed_pairs import ProposedPairs

LAW = EdgeLaw(predicted_share=0.6, temperature=0.8, density_cap=100.0)
NODES = 12
EVERY = 10**9
FINDS = {"all": AllPairs, "proposed": ProposedPairs}


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


def forms(origin: Source, absent: int = EVERY) -> dict:
    """Both ways to find what is drawn."""
    return {name: PairSampler(origin, find(origin), absent=absent) for name, find in FINDS.items()}


def test_law_by_hand():
    codes = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 0.5]])
    known = KnownPairs.of(torch.tensor([[0], [1]]), 3)
    # scores 1, 0, 0.5 above the diagonal; the largest on it, 2
    assert float(replace(LAW, predicted_share=1.0).scale(codes, known).others) == pytest.approx(0.5)
    # expected edges 0.75, at most 0.25 · 1 allowed; counts below one are taken as one
    law = EdgeLaw(0.8, 1.0, 0.25)
    scale = law.scale(codes, known)
    assert float(scale.others) == pytest.approx(0.4 * 0.25)
    # the cap leaves the edge alone: α S / max S + 1 - α
    probability = law.probability(torch.tensor([1.0, 0.5]), torch.tensor([True, False]), scale)
    torch.testing.assert_close(probability, torch.tensor([0.4 + 0.2, 0.4 * 0.25 * 0.5]))
    noise = torch.tensor([0.1, 0.5, 0.9])
    relaxed = EdgeLaw(1.0, 1.0, 1.0).relaxed(torch.tensor([0.5, 0.5, 0.5]), noise)
    # σ(-logit ε) = 1 - ε
    torch.testing.assert_close(relaxed, 1.0 - noise)


def test_cap_bounds_the_expected_number_of_new_edges():
    codes, known = some_codes().detach(), source().known
    scale = EdgeLaw(1.0, 1.0, 0.1).scale(codes, known)
    assert float((scale.others * (codes @ codes.t())).triu(1).sum()) == pytest.approx(0.1 * known.count)
    # as long as it is not reached nothing is changed
    loose = EdgeLaw(1.0, 1.0, 100.0).scale(codes, known)
    assert float(loose.others) == pytest.approx(float(loose.edges))


def test_longer_codes_are_the_same_law():
    """So no loss of the classifier can shrink the codes: the gradient has no part along them."""
    codes, origin = some_codes(), source()
    for law in (LAW, replace(LAW, density_cap=0.1)):
        scale = law.scale(codes, origin.known)
        for longer, one in zip(law.scale(3.0 * codes, origin.known), scale, strict=True):
            torch.testing.assert_close(longer, one / 9.0)
        probability = law.probability(codes @ codes.t(), torch.tensor(False), scale)
        (slope,) = torch.autograd.grad((probability * torch.rand_like(probability)).sum(), codes)
        assert abs(float((slope * codes).sum().detach())) < 1e-10 * float(slope.abs().sum())


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


def sparse_source(nodes: int, edges: int, *, predicted_share: float = 0.5, seed: int = 0) -> Source:
    """A random graph, with the law of the default settings."""
    generator = torch.Generator().manual_seed(seed)
    known = KnownPairs.of(torch.randint(nodes, (2, edges), generator=generator), nodes)
    columns = torch.cat([known.index, known.index.flip(0)], 1)
    graph = GraphInput.from_data(Data(x=torch.rand(nodes, 4, generator=generator), edge_index=columns))
    law = GAugO(predicted_share=predicted_share).law()
    return Source(graph, known, law, True, lambda n: torch.rand(n, dtype=torch.float64, generator=generator))


def sparse_codes(nodes: int, power: float = 8.0) -> torch.Tensor:
    codes = torch.rand(nodes, 8, generator=torch.Generator().manual_seed(1)).pow(power)
    return codes.requires_grad_()


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
