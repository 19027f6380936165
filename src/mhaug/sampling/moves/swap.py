"""One dropped unit is restored and one kept unit dropped: the count, and its term in the target, stay."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Swap:
    """Two units chosen uniformly; if one is kept and the other dropped they change places, else nothing is proposed.

    Alone it never changes the count: it samples P given the count.
    """

    def propose(self, kept: Tensor, uniforms: Tensor) -> Tensor:
        """Exchange two bits; two equal bits look the same afterwards."""
        if kept.shape[-1] == 0:
            return kept
        units = (uniforms * kept.shape[-1]).long()
        return kept.scatter(-1, units, kept.gather(-1, units).flip(-1))

    def log_prob(self, candidate: Tensor, *, given: Tensor) -> Tensor:
        """2/M² for each swapped state; the rest of the mass stays."""
        units = candidate.shape[-1]
        if units == 0:
            return torch.zeros(candidate.shape[:-1], dtype=torch.float64)
        dropped = (~given).sum(-1).double()
        stays = 1.0 - 2.0 * dropped * (units - dropped) / units**2
        swapped = ((candidate != given).sum(-1) == 2) & (candidate.sum(-1) == given.sum(-1))
        moves = swapped.double().log() + math.log(2.0) - 2.0 * math.log(units)
        return torch.where((candidate == given).all(-1), stays.log(), moves)
