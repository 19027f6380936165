"""Ramps by hand, and from a counter that is changed in place."""

import math

import torch

from mhaug.methods.parts.ramp import linear_ramp, sigmoid_ramp

POINTS = torch.tensor([0, 500, 750, 1000, 2000])


def test_linear() -> None:
    assert linear_ramp(POINTS, 500, 1000).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]


def test_sigmoid_begins_above_zero() -> None:
    expected = [math.exp(-5), math.exp(-5), math.exp(-5 / 4), 1.0, 1.0]
    torch.testing.assert_close(sigmoid_ramp(POINTS, 500, 1000), torch.tensor(expected))


def test_a_ramp_without_length_is_a_step() -> None:
    assert linear_ramp(torch.tensor([4, 5, 6]), 5, 5).tolist() == [0.0, 0.0, 1.0]


def test_the_counter_is_read_and_not_touched() -> None:
    """What a CUDA graph replays: the same tensor, counted up in place, gives the next value."""
    counter = torch.zeros((), dtype=torch.long)
    seen = []
    for _ in range(3):
        seen.append(float(linear_ramp(counter, 0, 4)))
        counter.add_(1)
    assert seen == [0.0, 0.25, 0.5]
