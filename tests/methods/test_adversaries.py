"""The two searches, on divergences that one can work out."""

import pytest
import torch

from mhaug.methods.parts.adversaries import OptimisedNoise, PowerIteration, normal, unit_rows


def test_power_iteration_finds_the_direction_that_matters():
    """½ (y·a)² grows fastest along a, wherever one starts; rows that nobody counts stay 0."""
    away = torch.tensor([0.6, 0.8])
    search = PowerIteration(iterations=1, probe_length=1e-3, length=0.5)
    found = search.find(lambda y: 0.5 * (y @ away).square(), torch.tensor([True, True, False]), torch.rand(3, 2))
    torch.testing.assert_close((found @ away).abs(), torch.tensor([0.5, 0.5, 0.0]))
    torch.testing.assert_close(found.norm(dim=1), torch.tensor([0.5, 0.5, 0.0]))
    assert search.state_dict() == {}


def test_unit_rows_of_tiny_numbers():
    rows = torch.tensor([[3e-30, 4e-30], [0.0, 0.0]])
    torch.testing.assert_close(unit_rows(rows), torch.tensor([[0.6, 0.8], [0.0, 0.0]]))


@pytest.mark.parametrize(("within", "deviation"), [(2.0, 0.8796), (5.0, 1.0)])
def test_normal_numbers(within, deviation):
    numbers = normal(torch.rand(200_000, dtype=torch.float64), within=within)
    assert numbers.abs().max() <= within
    assert float(numbers.std()) == pytest.approx(deviation, abs=0.005)
    assert float(numbers.mean()) == pytest.approx(0.0, abs=0.01)
    ends = normal(torch.tensor([0.0, 1.0]), within=within)  # 1 - 2⁻⁵³ is 1 in single precision
    torch.testing.assert_close(ends, torch.tensor([-within, within]), rtol=0.02, atol=0.0)


def test_optimised_noise_is_adam_whose_moments_stay():
    """Against torch's Adam, on ½|y|² - mean divergence; the second search goes on with the moments of the first."""
    pull = torch.tensor([[0.5, -1.0], [2.0, 0.1], [0.0, 0.3]], dtype=torch.float64)
    options = {"steps": 4, "rate": 0.001, "noise": 0.01, "length_weight": 1.0}
    search = OptimisedNoise((3, 2), torch.empty(0, dtype=torch.float64), **options)
    values = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    reference = torch.optim.Adam([values], lr=0.001)
    for _ in range(2):
        numbers = torch.rand(3, 2, dtype=torch.float64)
        found = search.find(lambda y: (y * pull).sum(-1), None, numbers)
        values.data = 0.01 * normal(numbers, within=2.0)
        for _ in range(4):
            reference.zero_grad()
            (0.5 * values.square().sum() - (values * pull).sum(-1).mean()).backward()
            reference.step()
        torch.testing.assert_close(found, values.detach())
