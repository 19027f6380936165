"""Dropout: rates, means, limits, seeds."""

import pytest
import torch

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
