"""Dropout: rates, means, limits, seeds."""

import pytest
import torch

from mhaug.backbones import dropout as dropout_file
from mhaug.backbones.dropout import dropout


@pytest.mark.parametrize("rate", [0.2, 0.5, 0.9])
def test_rate_and_mean(rate: float) -> None:
    torch.manual_seed(0)
    dropped = dropout(torch.ones(400, 500), rate)
    # 200,000 draws: four standard errors of the rate are below 0.005
    assert float((dropped == 0).float().mean()) == pytest.approx(rate, abs=0.005)
    assert float(dropped.max()) == pytest.approx(1 / (1 - rate), rel=1e-3)
    assert float(dropped.mean()) == pytest.approx(1.0, abs=0.05)


def test_limits() -> None:
    values = torch.arange(5.0)
    assert torch.equal(dropout(values, 0.0), values)
    assert torch.equal(dropout(values, 1.0), torch.zeros(5))
    assert dropout(torch.empty(0, 3), 0.5).shape == (0, 3)


def test_one_seed_gives_the_same_bits_and_neighbours_are_independent() -> None:
    torch.manual_seed(1)
    first = dropout(torch.ones(100_001), 0.5)
    torch.manual_seed(1)
    assert torch.equal(first, dropout(torch.ones(100_001), 0.5))
    # the four levels of one 64-bit draw must not be tied to each other
    lanes = (first[:100_000].view(-1, 4) > 0).float()
    assert (torch.corrcoef(lanes.t()) - torch.eye(4)).abs().max() < 0.03


def test_the_gradient_has_the_mask_of_the_value() -> None:
    values = torch.ones(1000, requires_grad=True)
    dropped = dropout(values, 0.5)
    dropped.sum().backward()
    assert torch.equal(values.grad, dropped.detach())


@pytest.mark.parametrize("numba", [True, False])
def test_a_mask_from_a_word_is_the_same_whatever_the_global_generator_says(monkeypatch, numba) -> None:
    monkeypatch.setattr(dropout_file, "_has_numba", lambda: numba)
    values = torch.ones(10_000, requires_grad=True)
    state = torch.get_rng_state()
    first, second, other = (dropout(values, 0.3, word) for word in (5, 5, 6))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    assert float((first == 0).double().mean()) == pytest.approx(0.3, abs=0.02)
    (slope,) = torch.autograd.grad(first.sum(), values)
    assert torch.equal(slope, first.detach())
