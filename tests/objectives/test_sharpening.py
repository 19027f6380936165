"""Sharpened targets by hand: values, limits, no gradient, one pass in memory at a time."""

import weakref

import pytest
import torch

from mhaug.checks import RequestError
from mhaug.objectives.sharpening import sharpen, sharpened_average


def test_values_by_hand() -> None:
    # squares of (.6, .3, .1) are (.36, .09, .01), which sum to .46
    sharp = sharpen(torch.tensor([[0.6, 0.3, 0.1]]), 0.5)
    torch.testing.assert_close(sharp, torch.tensor([[0.36, 0.09, 0.01]]) / 0.46)


def test_limits() -> None:
    p = torch.tensor([[0.4, 0.35, 0.25], [1.0, 0.0, 0.0]])
    torch.testing.assert_close(sharpen(p, 1.0), p)
    torch.testing.assert_close(sharpen(p, 1e-3), torch.tensor([[1.0, 0.0, 0.0]] * 2))


def test_powers_that_underflow_still_sum_to_one() -> None:
    even = torch.full((1, 15), 1 / 15)
    torch.testing.assert_close(sharpen(even, 0.01), even)


def test_the_mean_of_the_passes_is_sharpened() -> None:
    passes = torch.tensor([[[0.9, 0.1]], [[0.5, 0.5]]]).log()
    torch.testing.assert_close(sharpened_average(passes, 0.5), torch.tensor([[0.49, 0.09]]) / 0.58)


def test_each_replica_has_its_own_temperature() -> None:
    passes = torch.tensor([0.9, 0.1]).log().expand(3, 2, 4, 2)  # passes, replicas, nodes, classes
    sharp = sharpened_average(passes, torch.tensor([1.0, 0.5]))
    torch.testing.assert_close(sharp[0], torch.tensor([0.9, 0.1]).expand(4, 2))
    torch.testing.assert_close(sharp[1], torch.tensor([0.81, 0.01]).expand(4, 2) / 0.82)


def test_no_gradient_and_one_pass_at_a_time() -> None:
    weight = torch.ones(5, requires_grad=True)
    alive: list[weakref.ref[torch.Tensor]] = []

    def one_pass() -> torch.Tensor:
        assert not torch.is_grad_enabled()
        assert sum(ref() is not None for ref in alive) <= 1
        logits = weight * torch.randn(4, 5)
        alive.append(weakref.ref(logits))
        return logits

    assert not sharpened_average((one_pass() for _ in range(6)), 0.1).requires_grad
    assert len(alive) == 6


def test_bad_temperature() -> None:
    with pytest.raises(RequestError, match=r"'temperature' must be a finite number above 0; got 0\.0"):
        sharpen(torch.ones(1, 1), 0.0)
