"""The special cases of the paper, and what each option changes."""

import pytest
import torch
from scipy.stats import chi2

from methods.problems import begin, planted_task
from mhaug import EgoTerm, MHAug, rng
from mhaug.checks import RequestError
from mhaug.data.toy_graphs import grid_graph
from mhaug.methods.catalogue import build_method
from mhaug.training.fit import fit
from mhaug.training.result import FitConfig

# σ so small around Δ = 0 that no candidate is ever accepted: the chain stays at the original graph
NEVER_MOVES = {
    "edge_strength": 0.0, "edge_spread_slope": 0.0, "edge_spread_floor": 1e-4,
    "node_strength": 0.0, "node_spread_slope": 0.0, "node_spread_floor": 1e-4,
}  # fmt: skip


def gradients(learner, seed: int) -> list[torch.Tensor]:
    """The gradient of one step, with the same dropout masks for the same seed."""
    rng.seed_global(seed, "masks")
    learner.model.zero_grad()
    learner.step(1).losses.total.backward()
    return [parameter.grad.clone() for parameter in learner.model.parameters()]


@pytest.mark.parametrize("method", ["mh-aug", "mh-aug-no-reg"])
def test_a_chain_that_never_moves_is_vanilla(method):
    weights = {} if method == "mh-aug-no-reg" else {"consistency_weight": 0.0, "sharpness_weight": 0.0}
    still = begin(method, train_on="every-step", entropy="frozen", **NEVER_MOVES, **weights)
    # the first step takes ε, which costs a pass of its own; from then on the only pass is that of the loss
    assert still.step(1).accepted == 0
    for ours, theirs in zip(gradients(still, 5), gradients(begin("vanilla"), 5), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_rejected_candidates_teach_nothing_by_default():
    step = begin("mh-aug", **NEVER_MOVES).step(7)
    assert step.losses is None
    assert (step.proposals, step.accepted) == (7, 0)


def test_flat_target_has_the_law_of_dropedge_given_the_ratio():
    """ego_weight 0: given the count d, each subset of d units is equally likely.

    Law: with p_t = d_t / M and n_u the drops of unit u, Σ_u (n_u - n̄)² (M - 1) / (M Σ_t p_t (1 - p_t)) is chi-squared
    with M - 1 degrees of freedom for independent draws; an accepted step redraws the subset whole. Two-sided
    false-alarm rate 1e-4; the seed is fixed.
    """
    sampler = MHAug(edges=EgoTerm(ego_weight=0.0, count_weight=1.0), step_size=5.0, moves="resample")
    trace = sampler.sample(grid_graph(6, 6), draws=1000, chains=4, keep_masks=True, seed=2)
    moved = torch.cat([torch.ones(4, 1).bool(), (trace.edge_kept[:, 1:] != trace.edge_kept[:, :-1]).any(-1)], 1)
    dropped = (~trace.edge_kept)[moved].double()
    units, ratios = dropped.shape[1], dropped.mean(1)
    counts = dropped.sum(0)
    spread = float((counts - counts.mean()).square().sum()) * (units - 1) / units
    statistic = spread / float((ratios * (1 - ratios)).sum())
    assert chi2.ppf(0.5e-4, units - 1) < statistic < chi2.ppf(1 - 0.5e-4, units - 1)


def test_entropy_frozen_keeps_the_target_and_live_moves_it():
    frozen, live = begin("mh-aug", entropy="frozen"), begin("mh-aug", entropy="live")
    for learner in (frozen, live):
        fit(planted_task(), learner, FitConfig(max_updates=10))
    assert "entropy" in frozen.state_dict()
    assert "entropy" not in live.state_dict()


def test_terms_of_weight_zero_cost_no_pass():
    assert set(begin("mh-aug").step(50).losses.terms) == {"supervised", "consistency", "sharpness"}
    plain = begin("mh-aug", consistency_weight=0.0, sharpness_weight=0.0)
    assert set(plain.step(50).losses.terms) == {"supervised"}


def test_the_history_tells_the_change_ratios():
    history = fit(planted_task(), begin("mh-aug"), FitConfig(max_updates=5)).history
    for name in ("edge_change", "node_change", "ego_edge_change", "ego_node_change", "acceptance"):
        assert len(history[name]) == 5
        assert all(0 <= value <= 1 for value in history[name])


def test_blocks_accepts_more_often_than_joint():
    rates = [
        fit(
            planted_task(), begin("mh-aug", accept=rule, edge_spread_slope=0.0), FitConfig(max_updates=60)
        ).acceptance_rate
        for rule in ("blocks", "joint")
    ]
    assert rates[0] > rates[1]


def test_strength_may_follow_the_entropy():
    """μ_i = 0.6 - 0.6 ε_i: a node that is sure (ε = 0) is pulled to 0.6, one that knows nothing is left alone."""
    method = build_method("mh-aug", edge_strength=0.6, edge_strength_slope=-0.6, node_strength_slope=0.5)
    terms = method.sampler()
    entropy = torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64)
    torch.testing.assert_close(terms.edges.strengths(entropy), torch.tensor([0.6, 0.3, 0.0], dtype=torch.float64))
    torch.testing.assert_close(terms.nodes.strengths(entropy), torch.tensor([0.3, 0.55, 0.8], dtype=torch.float64))
    with pytest.raises(RequestError, match=r"'edge_strength_slope' must be a number in \[-0.3, 0.7\]; got 0.8"):
        build_method("mh-aug", edge_strength_slope=0.8)


def test_a_wrong_step_size_is_called_by_its_own_name():
    with pytest.raises(RequestError, match=r"'node_step_size' must be a finite number above 0; got 0.0"):
        build_method("mh-aug", node_step_size=0.0)
