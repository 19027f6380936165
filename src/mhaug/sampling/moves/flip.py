"""One unit, chosen uniformly, is dropped if it is kept and restored if it is not."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Flip:
    """The smallest move. Only the ego-graphs around the unit change, so even a sharp target accepts it."""

    def propose(self, kept: Tensor, uniforms: Tensor) -> Tensor:
        """Turn one bit over."""
        if kept.shape[-1] == 0:
            return kept
        unit = (uniforms[..., :1] * kept.shape[-1]).long()
        return kept.scatter(-1, unit, ~kept.gather(-1, unit))

    def log_prob(self, candidate: Tensor, *, given: Tensor) -> Tensor:
        """1/M for each of the M neighbours."""
        units = candidate.shape[-1]
        if units == 0:
            return torch.zeros(candidate.shape[:-1], dtype=torch.float64)
        neighbours = (candidate != given).sum(-1) == 1
        return neighbours.double().log() - math.log(units)
