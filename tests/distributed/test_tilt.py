"""The number that takes the count apart, and the subsets that parts draw together."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import beta, chisquare, kstest, norm

from distributed.cases import chain_on_path
from mhaug import EgoTerm, MHAug
from mhaug.data.toy_graphs import grid_graph
from mhaug.distributed.partitioned import partitioned_chain
from mhaug.distributed.resample_whole import counts_of_parts, subset
from mhaug.distributed.tilt import draw_tilt, left_over
from mhaug.distributed.world import World
from mhaug.sampling.diagnostics import describe
from sampling.enumeration import all_masks, state_number


@pytest.mark.parametrize(("dropped", "weight"), [(0, 1.0), (3, 0.7), (9, 2.5)])
def test_the_tilt_has_its_law(dropped, weight):
    """Law: θ is Beta(λ'd + 1, λ'(M - d) + 1) (Kolmogorov-Smirnov). Tolerance: p > 1e-4, the false-alarm rate."""
    rng = np.random.default_rng(0)
    tilts = np.array([draw_tilt(dropped, 9, weight, rng) for _ in range(2000)])
    law = beta(weight * dropped + 1, weight * (9 - dropped) + 1)
    assert kstest(1 / (1 + np.exp(-tilts / weight)), law.cdf).pvalue > 1e-4


def test_nothing_is_left_over_at_weights_0_and_1_and_little_between():
    assert draw_tilt(4, 9, 0.0, np.random.default_rng(0)) == 0.0
    assert left_over(3, 10, 1.0) == left_over(7, 10, 1.0) == 0.0
    # by hand, for two units: -log C(2, 1) / 2 - log B(3/2, 3/2) against -log B(1, 2)
    by_hand = -math.log(2) / 2 - math.log(math.pi / 8) - math.log(2)
    assert left_over(1, 2, 0.5) - left_over(0, 2, 0.5) == pytest.approx(by_hand)
    assert abs(left_over(300_000, 10**6, 0.5) - left_over(303_000, 10**6, 0.5)) < 0.01


def test_parts_draw_a_uniform_subset_together():
    """Law: each of the 20 subsets of three out of six is as likely. Tolerance: p > 1e-4, the false-alarm rate."""
    state, shared = chain_on_path(World.alone()).state["edges"], np.random.default_rng(0)
    draws = [int(state_number(torch.from_numpy(subset(state, 3, shared=shared)))) for _ in range(2000)]
    counts = torch.tensor(draws).bincount(minlength=64)[all_masks(6).sum(1) == 3]
    assert int(counts.sum()) == 2000
    assert chisquare(counts.numpy()).pvalue > 1e-4


def test_counts_of_parts_have_the_law_of_a_uniform_subset():
    """Law: of the C(9, 4) subsets of 3 + 2 + 4 units, C(3, a) C(2, b) C(4, c) have the counts a, b, c.

    Tolerance: p > 1e-4, the false-alarm rate.
    """
    rng, sizes = np.random.default_rng(0), np.array([3, 2, 4])
    for count, by_hand in ((0, [0, 0, 0]), (9, [3, 2, 4])):
        assert counts_of_parts(sizes, count, rng).tolist() == by_hand
    assert counts_of_parts(np.array([0, 1, 0]), 1, rng).tolist() == [0, 1, 0]
    tables = [(a, b, 4 - a - b) for a in range(4) for b in range(3) if a + b <= 4]
    weights = np.array([math.prod(map(math.comb, sizes.tolist(), table)) for table in tables])
    assert weights.sum() == math.comb(9, 4) == 126
    seen = [tuple(counts_of_parts(sizes, 4, rng).tolist()) for _ in range(6000)]
    assert chisquare([seen.count(table) for table in tables], 6000 * weights / 126).pvalue > 1e-4


def test_counts_of_parts_of_more_than_a_billion_units():
    """Law: the count of the first part is all but normal, with mean d p and variance d p (1 - p) (M - d) / (M - 1).

    Tolerance: p > 1e-4 (Kolmogorov-Smirnov), the false-alarm rate.
    """
    rng, sizes, count = np.random.default_rng(0), np.array([9, 5, 2]) * 10**8, 6 * 10**8
    draws = np.array([counts_of_parts(sizes, count, rng) for _ in range(500)])
    assert (draws.sum(1) == count).all()
    share, rest = 9 / 16, 10 / 16
    spread = math.sqrt(count * share * (1 - share) * rest)
    assert kstest((draws[:, 0] - count * share) / spread, norm.cdf).pvalue > 1e-4


def test_a_chain_that_is_saved_after_any_round_goes_on_with_the_same_numbers():
    chain, other = (chain_on_path(World.alone()) for _ in range(2))
    for _ in range(20):
        other.load_state_dict(chain.state_dict())
        for each in (chain, other):
            each.step()
        assert torch.equal(chain.kept("edges"), other.kept("edges"))
        other = chain_on_path(World.alone())


def test_a_chain_in_parts_agrees_with_the_chain_on_the_whole():
    """Four chains of each on a grid, from the whole graph to the empty one.

    Law: means differ by a normal of the combined Monte Carlo error. Tolerance: 4 standard errors, a false alarm in
    1.6e4 for each of two quantities; R-hat of all eight below 1.1.
    """
    sampler, data = MHAug(edges=EgoTerm(spread_floor=0.3), step_size=0.1), grid_graph(9, 9)
    draws = {"whole": [], "parts": []}
    for index in range(4):
        chains = {"whole": sampler.chain(data, seed=index)}
        chains["parts"] = partitioned_chain(sampler, data, parts=2 + index % 2, seed=index)
        for name, chain in chains.items():
            chain.place({"edges": torch.arange(chain.setup.num_units).unsqueeze(0) % 3 >= index})
            chain.step(rounds=40)
            draws[name].append([_numbers(chain) for _ in range(100)])
    both = {name: np.array(rows) for name, rows in draws.items()}
    for quantity in range(2):
        whole, parts = (describe(both[name][:, :, quantity]) for name in ("whole", "parts"))
        assert abs(whole.mean - parts.mean) < 4 * math.hypot(whole.mcse, parts.mcse)
        assert describe(np.concatenate([both["whole"], both["parts"]])[:, :, quantity]).r_hat < 1.1


def _numbers(chain):
    chain.step()
    return float(chain.change("edges").ego), float(chain.log_prob())
