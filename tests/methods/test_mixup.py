"""Mixup: the law of the share, sets of unequal size, partners, and a mix by hand."""

import pytest
import torch
from scipy.stats import beta, kstest

from mhaug.methods.parts.mixup import NodeSet, Pairs, partners, symmetric_beta, taken

RNG = torch.Generator().manual_seed(0)


@pytest.mark.parametrize("concentration", [0.1, 0.5, 1.0, 2.0])
def test_the_share_has_a_beta_law(concentration: float) -> None:
    """Kolmogorov-Smirnov on 20,000 draws; false-alarm rate 1e-4, the seed is fixed."""
    draws = symmetric_beta(torch.rand(20_000, 2, generator=RNG, dtype=torch.float64), concentration)
    assert kstest(draws.numpy(), beta(concentration, concentration).cdf).pvalue > 1e-4


def test_concentration_zero_swaps_or_leaves() -> None:
    draws = symmetric_beta(torch.rand(1000, 2, generator=RNG, dtype=torch.float64), 0.0)
    assert set(draws.tolist()) == {0.0, 1.0}


def test_each_replica_has_its_own_concentration() -> None:
    numbers = torch.rand(2, 2, generator=RNG, dtype=torch.float64)
    both = symmetric_beta(numbers, torch.tensor([0.3, 3.0]))
    alone = [symmetric_beta(row, a) for row, a in zip(numbers, (0.3, 3.0), strict=True)]
    torch.testing.assert_close(both, torch.stack(alone), rtol=1e-6, atol=1e-7)


MASK = torch.tensor([[True, False, True, True, False], [False, False, False, True, False]])


def test_sets_of_unequal_size() -> None:
    sets = NodeSet.of(MASK)
    assert sets.members[0].tolist() == [0, 2, 3]
    assert int(sets.members[1, 0]) == 3
    assert sets.real.tolist() == [[True, True, True], [True, False, False]]
    assert NodeSet.of(MASK[0]).members.tolist() == [0, 2, 3]


def test_draws_are_of_the_set_and_even() -> None:
    numbers = (torch.arange(300).expand(2, -1) + 0.5) / 300
    drawn = NodeSet.of(MASK).draw(numbers)
    assert drawn[0].bincount(minlength=5).tolist() == [100, 0, 100, 100, 0]
    assert set(drawn[1].tolist()) == {3}


def test_real_places_have_real_partners() -> None:
    real = torch.tensor([[True, True, True, False], [True, True, True, True]])
    for _ in range(20):
        found = partners(real, torch.rand(2, 4, generator=RNG))
        assert sorted(found[0, :3].tolist()) == [0, 1, 2]
        assert sorted(found[1].tolist()) == [0, 1, 2, 3]


def test_taken_rows_of_replicas() -> None:
    values = torch.arange(12.0).view(3, 2, 2)  # nodes, replicas, width
    rows = torch.tensor([[2, 0], [1, 1]])
    expected = torch.stack([values[[2, 0], 0], values[[1, 1], 1]], 1)
    assert torch.equal(taken(values, rows), expected)
    assert torch.equal(taken(values[:, 0], rows[0]), expected[:, 0])


def test_a_mix_by_hand() -> None:
    """Two sets of two; the first swaps partners at λ = 0.75, the second stays with itself."""
    pairs = Pairs(torch.tensor([4, 5, 6, 7]), torch.tensor([1, 0, 2, 3]), torch.tensor([0.75, 0.75, 0.5, 0.5]))
    mixed = pairs.mix(torch.tensor([[1.0], [5.0], [7.0], [9.0]]))
    assert mixed.flatten().tolist() == [2.0, 4.0, 7.0, 9.0]


def test_sets_do_not_mix_with_each_other() -> None:
    known, others = NodeSet.of(MASK[0]), NodeSet.of(~MASK[0])
    pairs = Pairs.draw(known, others, torch.rand(4 + 9, generator=RNG), concentration=1.0)
    assert pairs.rows[:3].tolist() == [0, 2, 3]
    assert set(pairs.rows[3:].tolist()) <= {1, 4}
    assert sorted(pairs.partner[:3].tolist()) == [0, 1, 2]
    assert sorted(pairs.partner[3:].tolist()) == [3, 4, 5]
    assert len(set(pairs.share[:3].tolist())) == len(set(pairs.share[3:].tolist())) == 1
