"""The loss of the auto-encoders against its dense form, and what they learn."""

import pytest
import torch
from torch.nn import functional as F

from methods.allocations import LargestTensor
from methods.problems import planted_task
from mhaug.backbones.catalogue import build_backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.propagation import symmetric_average
from mhaug.backbones.sparse import Sparse
from mhaug.data.view import View
from mhaug.methods.parts import reconstruction as reconstruction_file
from mhaug.methods.parts.auto_encoder import (
    EdgePredictor,
    VariationalEncoder,
    divergence,
    scaled_features,
    variational_codes,
)
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pair_graph import PairGraph
from mhaug.methods.parts.reconstruction import Reconstruction, softplus_of_all_pairs
from mhaug.objectives.non_finite import NonFiniteLossError


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def uniform_from(seed: int):
    stream = generator(seed)
    return lambda size: torch.rand(size, dtype=torch.float64, generator=stream)


def some_codes(nodes: int, width: int = 3) -> torch.Tensor:
    return torch.randn(nodes, width, dtype=torch.float64, generator=generator(1)).requires_grad_()


def some_pairs(nodes: int, count: int = 30) -> KnownPairs:
    return KnownPairs.of(torch.randint(nodes, (2, count), generator=generator(2)), nodes)


def dense_loss(codes: torch.Tensor, known: KnownPairs) -> torch.Tensor:
    """w · BCE_pos(Z Zᵀ, A + I) as the paper's code writes it."""
    nodes = known.num_nodes
    target = torch.eye(nodes, dtype=codes.dtype)
    target[known.index[0], known.index[1]] = target[known.index[1], known.index[0]] = 1.0
    entries = target.sum()
    weight = nodes**2 / (2.0 * (nodes**2 - entries))
    pos_weight = (nodes**2 - entries) / entries
    return weight * F.binary_cross_entropy_with_logits(codes @ codes.t(), target, pos_weight=pos_weight)


@pytest.mark.parametrize("block", [1, 50, 2**22])
def test_exact_loss_and_its_gradient(block, monkeypatch):
    monkeypatch.setattr(reconstruction_file, "BLOCK", block)
    codes, known = some_codes(17), some_pairs(17)
    loss, expected = Reconstruction(known)(codes, uniform=uniform_from(0)), dense_loss(codes, known)
    torch.testing.assert_close(loss, expected)
    (slope,), (expected_slope,) = torch.autograd.grad(loss, codes), torch.autograd.grad(expected, codes)
    torch.testing.assert_close(slope, expected_slope)


def test_exact_loss_by_hand():
    """Two nodes and no edge: entries 1, 1 on the diagonal with score 1, two others with score 0."""
    codes = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    nobody = KnownPairs.of(torch.empty(2, 0, dtype=torch.long), 2)
    expected = 0.5 * (torch.tensor(1.0).neg().exp().log1p() + torch.tensor(2.0).log())
    torch.testing.assert_close(Reconstruction(nobody)(codes, uniform=uniform_from(0)), expected)


def test_sampled_loss_is_right_in_the_mean():
    codes, known, uniform = some_codes(17), some_pairs(17), uniform_from(0)
    sampled = Reconstruction(known, exact=False, negatives=4000)
    loss, expected = sampled(codes, uniform=uniform), dense_loss(codes, known)
    torch.testing.assert_close(loss, expected, rtol=0.02, atol=0.0)
    (slope,), (expected_slope,) = torch.autograd.grad(loss, codes), torch.autograd.grad(expected, codes)
    assert (slope - expected_slope).norm() < 0.05 * expected_slope.norm()


def test_a_complete_graph_has_no_absent_pairs():
    everyone = KnownPairs.of(torch.triu_indices(5, 5, 1), 5)
    for exact in (True, False):
        loss = Reconstruction(everyone, exact=exact)(some_codes(5), uniform=uniform_from(0))
        assert loss.isfinite()


def test_extreme_scores_stay_finite():
    codes = torch.tensor([[100.0], [-100.0], [0.0]], requires_grad=True)
    total = softplus_of_all_pairs(codes)
    total.backward()
    assert total.isfinite()
    assert codes.grad.isfinite().all()
    # 2 × 10,000 on the diagonal, 2 × 0 across, five scores of 0
    assert float(total.detach()) == pytest.approx(20_000 + 5 * 0.6931, rel=1e-4)


def test_no_tensor_of_all_pairs(monkeypatch):
    monkeypatch.setattr(reconstruction_file, "BLOCK", 2**16)
    codes = torch.randn(3000, 8, generator=generator(), requires_grad=True)
    for exact in (True, False):
        with LargestTensor() as largest:
            Reconstruction(some_pairs(3000, 9000), exact=exact)(codes, uniform=uniform_from(0)).backward()
        assert largest.elements <= 9000 * 8  # the known pairs' codes; all pairs would be 9,000,000


def test_pair_scores_and_their_gradient():
    codes, pairs = some_codes(9), some_pairs(9, 12).index
    loops = torch.tensor([[4], [4]])
    weights = torch.randn(pairs.shape[1], dtype=torch.float64, generator=generator(3))
    scores = PairGraph.of(pairs, 9, loops).scores(codes)
    expected = (codes[pairs[0]] * codes[pairs[1]]).sum(1)
    torch.testing.assert_close(scores, expected)
    slopes = [torch.autograd.grad((each * weights).sum(), codes)[0] for each in (scores, expected)]
    torch.testing.assert_close(*slopes)


def test_adjacency_is_that_of_gcn():
    graph = GraphInput.from_data(planted_task().graph)
    gcn = build_backbone("gcn", 8, 3)
    torch.testing.assert_close(symmetric_average(graph).to_dense(), gcn.edge_values(graph, View()).to_dense())


def test_features_are_scaled_to_a_root_mean_square_of_one():
    x = torch.zeros(40, 30)
    x[:, 0], x[0, 1] = 0.1, 0.3
    graphs = [
        GraphInput.from_data(planted_task().graph).with_features(each)
        for each in (x.repeat(3, 1), x.repeat(3, 1) + 1.0)
    ]
    for graph in graphs:
        features = scaled_features(graph)
        values = features.values if isinstance(features, Sparse) else features
        assert float(values[values != 0].square().mean()) == pytest.approx(1.0, rel=1e-5)
    assert isinstance(scaled_features(graphs[0]), Sparse)


def test_divergence_by_hand():
    """Two nodes, one dimension: μ = 1, 0 and σ = 1, e: -(1 / 4) · ((1 - 1 - 1) + (1 + 2 - e²)) / 2."""
    mean, log_spread = torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0], [1.0]])
    expected = -0.25 * ((1.0 - 1.0 - 1.0) + (3.0 - torch.tensor(2.0).exp())) / 2.0
    torch.testing.assert_close(divergence(mean, log_spread), expected)
    assert divergence(torch.zeros(3, 2), torch.zeros(3, 2)) == 0.0


def test_codes_are_those_of_the_formulas():
    graph = GraphInput.from_data(planted_task().graph)
    adjacency, x = symmetric_average(graph).to_dense(), graph.dense_features
    plain = EdgePredictor(8, hidden=5, width=3, generator=generator())
    torch.testing.assert_close(plain(graph), (adjacency @ (adjacency @ x @ plain.first) @ plain.second).relu())
    noisy = VariationalEncoder(8, hidden=5, width=3, generator=generator())
    hidden = F.elu(adjacency @ (x / x.square().mean().sqrt()) @ noisy.first)
    mean, log_spread = noisy(graph)
    torch.testing.assert_close(mean, adjacency @ hidden @ noisy.mean)
    torch.testing.assert_close(log_spread, adjacency @ hidden @ noisy.log_spread)


def test_codes_tell_edges_from_other_pairs_and_depend_on_the_seed_alone():
    graph = GraphInput.from_data(planted_task().graph)
    known = KnownPairs.of(graph.edge_index, graph.num_nodes)
    sizes = {"hidden": 32, "width": 16, "epochs": 100, "learning_rate": 0.01}
    state = torch.get_rng_state()
    codes, again, other = (variational_codes(graph, known, **sizes, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(codes, again)
    assert not torch.equal(codes, other)
    scores, pairs = codes @ codes.t(), torch.triu_indices(120, 120, 1)
    is_edge, scores = known.contains(pairs), scores[pairs[0], pairs[1]]
    better = (scores[is_edge].unsqueeze(1) > scores[~is_edge]).double().mean()
    assert better > 0.75  # the area under the curve; guessing gives a half


@pytest.mark.parametrize(
    ("rate", "words"), [(1e3, "stopped at step [0-9]+: the term '.*' of the loss is"), (1e38, "")]
)
def test_an_auto_encoder_that_diverges_says_when_and_where(rate, words):
    graph = GraphInput.from_data(planted_task().graph)
    known = KnownPairs.of(graph.edge_index, graph.num_nodes)
    sizes = {"hidden": 32, "width": 16, "learning_rate": rate, "seed": 0}
    with pytest.raises(
        NonFiniteLossError, match=r"auto-encoder stopped at step [0-9]+: the term '.*' of the loss is"
    ):
        variational_codes(graph, known, **sizes, epochs=100)
    # the last update is followed by no loss
    with pytest.raises(NonFiniteLossError, match="ended at step 1: the codes are not finite"):
        variational_codes(graph, known, **sizes, epochs=1)
