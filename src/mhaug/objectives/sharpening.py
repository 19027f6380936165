"""Targets out of a network's own predictions: averaged over several passes, sharpened, without a gradient."""

from collections.abc import Iterable

import torch
from torch import Tensor

from mhaug.objectives.log_softmax import log_softmax
from mhaug.per_replica import PerReplica, aligned, check_number


@torch.no_grad()
def sharpen(probabilities: Tensor, temperature: PerReplica) -> Tensor:
    """p_c^(1/T) / Σ_c' p_c'^(1/T) of each row [..., V, C]. T = 1 changes nothing, T → 0 leaves the largest alone.

    In logs: at T = 0.01 the powers themselves would all underflow to 0.
    """
    check_number(temperature, "temperature", 0.0, open_low=True)
    return (probabilities.log() / aligned(temperature, 2)).softmax(-1)


@torch.no_grad()
def sharpened_average(passes: Iterable[Tensor], temperature: PerReplica) -> Tensor:
    """The mean of softmax over the logits [..., V, C] of several passes, sharpened.

    `passes` is read one at a time and never kept, so a generator of passes needs the memory of one, and runs them
    without a gradient. A tensor is read along its first axis.
    """
    total, count = None, 0
    for logits in passes:
        probabilities = log_softmax(logits).exp()
        total = probabilities if total is None else total.add_(probabilities)
        count += 1
    assert total is not None, "no passes to average"
    return sharpen(total / count, temperature)
