"""The move of the paper (Eq. 6): a new count near the current one, then a fresh uniform subset of that size."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug.per_replica import PerReplica
from mhaug.sampling import truncated_normal
from mhaug.sampling.target import log_subsets


@dataclass(frozen=True)
class Resample:
    """Only the count is a random walk; which units are dropped is forgotten at each step."""

    step_size: PerReplica  # σ_Δ

    def propose(self, kept: Tensor, uniforms: Tensor) -> Tensor:
        """Draw d' and then one of the C(M, d') subsets."""
        given, units = (~kept).sum(-1), kept.shape[-1]
        count = truncated_normal.draw(uniforms[..., 0], given=given, units=units, step_size=self.step_size)
        return uniform_subset(uniforms[..., 1:], count)

    def log_prob(self, candidate: Tensor, *, given: Tensor) -> Tensor:
        """log of mass(d' | d) / C(M, d')."""
        units, count = candidate.shape[-1], (~candidate).sum(-1)
        mass = truncated_normal.log_mass(count, given=(~given).sum(-1), units=units, step_size=self.step_size)
        return mass - log_subsets(units, count)


def uniform_subset(keys: Tensor, dropped: Tensor) -> Tensor:
    """Drop the units with the `dropped` smallest keys. Independent keys make each subset of a size equally likely."""
    order = keys.argsort(stable=True, dim=-1)
    rank_kept = torch.arange(keys.shape[-1], device=keys.device) >= dropped.unsqueeze(-1)
    return torch.empty_like(rank_kept).scatter_(-1, order, rank_kept)
