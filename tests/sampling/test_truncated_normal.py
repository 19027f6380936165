import math

import pytest
import torch
from scipy.stats import truncnorm

from mhaug.sampling.truncated_normal import draw, log_mass


@pytest.mark.parametrize("units", [1, 2, 7, 1000])
@pytest.mark.parametrize("step_size", [0.001, 0.03, 0.4, 10.0])
def test_masses_sum_to_one(units, step_size):
    counts = torch.arange(units + 1)
    for given in (0, units // 3, units):
        mass = log_mass(counts, given=torch.tensor(given), units=units, step_size=step_size).exp()
        assert float(mass.sum()) == pytest.approx(1.0, abs=1e-12)


def test_mass_is_scipys():
    """4 units from a count of 1: the ratio is N(1/4, 0.2) cut to [0, 1]; count 2 owns the ratios 3/8 to 5/8."""
    law = truncnorm(-0.25 / 0.2, 0.75 / 0.2, loc=0.25, scale=0.2)
    got = log_mass(torch.tensor([0, 2, 4]), given=torch.tensor(1), units=4, step_size=0.2).exp()
    expected = [law.cdf(1 / 8), law.cdf(5 / 8) - law.cdf(3 / 8), 1 - law.cdf(7 / 8)]
    assert got.tolist() == pytest.approx(expected, rel=1e-12)


def test_far_tails_stay_finite():
    """From 0 to 1000 of 1000 with σ = 0.01 is a hundred standard deviations: about -(100²)/2 in logs."""
    far = float(log_mass(torch.tensor(1000), given=torch.tensor(0), units=1000, step_size=0.01))
    assert math.isfinite(far)
    assert -5000 < far < -4980


def test_draw_inverts_the_mass():
    """Evenly spaced uniform numbers must land on each count as often as its mass says, to the spacing."""
    uniform = (torch.arange(100_000).double() + 0.5) / 100_000
    given = torch.full_like(uniform, 3, dtype=torch.long)
    shares = draw(uniform, given=given, units=10, step_size=0.2).bincount(minlength=11) / 100_000
    mass = log_mass(torch.arange(11), given=torch.tensor(3), units=10, step_size=0.2).exp()
    torch.testing.assert_close(shares.double(), mass, atol=2e-5, rtol=0)


def test_extremes_and_nothing_to_drop():
    uniform = torch.tensor([0.0, 1 - 2**-53], dtype=torch.float64)
    assert draw(uniform, given=torch.tensor([5, 5]), units=10, step_size=1e-3).tolist() == [5, 5]
    assert draw(uniform, given=torch.tensor([0, 10]), units=10, step_size=0.5).tolist() == [0, 10]
    assert draw(uniform, given=torch.tensor([0, 0]), units=0, step_size=0.5).tolist() == [0, 0]
    assert log_mass(torch.tensor([0]), given=torch.tensor([0]), units=0, step_size=0.5).tolist() == [0.0]
