"""Mixup over sets of nodes: fixed shapes, whatever the split and however many replicas.

Sets are node numbers [N], or [R, N] for replicas; values lie as in the layers, [N, D] or [N, R, D].
"""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from mhaug.per_replica import PerReplica, aligned


@dataclass(frozen=True, eq=False)
class NodeSet:
    """The nodes of a mask as numbers. Where replicas have fewer than the largest set, the rest is filled up."""

    members: Tensor  # long [N] or [R, N]
    count: Tensor  # long [] or [R]

    @classmethod
    def of(cls, mask: Tensor) -> "NodeSet":
        """From a bool mask [V] or [R, V]. Waits for the device."""
        count = mask.sum(-1)
        order = mask.to(torch.uint8).argsort(dim=-1, descending=True, stable=True)
        return cls(order[..., : max(int(count.max()), 1)].contiguous(), count)

    @cached_property
    def real(self) -> Tensor:
        """Which places hold a node of the set, bool [N] or [R, N]."""
        places = torch.arange(self.members.shape[-1], device=self.members.device)
        return places < self.count.unsqueeze(-1)

    def draw(self, uniforms: Tensor) -> Tensor:
        """Members with replacement, one for each number in [0, 1), [n] or [R, n]."""
        place = (uniforms * self.count.unsqueeze(-1)).long().clamp(max=self.members.shape[-1] - 1)
        return self.members.gather(-1, place)


def partners(real: Tensor, uniforms: Tensor) -> Tensor:
    """A random order of the real places [n] or [R, n], each the partner of the place where it stands.

    Places that are filled up come last: no real node gets one of them.
    """
    return (uniforms + ~real).argsort(-1)


def symmetric_beta(uniforms: Tensor, concentration: PerReplica) -> Tensor:
    """λ ~ Beta(a, a) from two numbers in [0, 1), [..., 2] -> [...]. As a → 0, λ is 0 or 1.

    λ = ½ + ½ t / √(2a + t²), where t = √(2a (u^(-1/a) - 1)) cos 2πv has Student's law with 2a degrees of freedom
    (Bailey 1994). No rejection, so shapes stay fixed.
    """
    direction = torch.cos(2.0 * math.pi * uniforms[..., 1])
    # t² / 2a; 1 - u is never 0, and infinity for a tiny a is right
    square = torch.expm1(-torch.log1p(-uniforms[..., 0]) / concentration) * direction.square()
    return 0.5 + 0.5 * direction.sign() / (1.0 + 1.0 / square).sqrt()


@dataclass(frozen=True, eq=False)
class Pairs:
    """Two sets of equal size, one after the other; each node has a partner in its own set, each set a share λ."""

    rows: Tensor  # node numbers, [2n] or [R, 2n]
    partner: Tensor  # places in `rows`
    share: Tensor

    @classmethod
    def draw(cls, known: NodeSet, others: NodeSet, numbers: Tensor, *, concentration: PerReplica) -> "Pairs":
        """All of `known`, and as many of `others`; from 4 + 3n numbers in [0, 1), [...] or [R, ...]."""
        size, real = known.members.shape[-1], known.real
        pairs, order, chosen, other_order = numbers.split((4, size, size, size), -1)
        shares = symmetric_beta(pairs.unflatten(-1, (2, 2)), aligned(concentration, 1))
        return cls(
            rows=torch.cat([known.members, others.draw(chosen)], -1),
            partner=torch.cat([partners(real, order), size + partners(real, other_order)], -1),
            share=shares.unsqueeze(-1).expand(*shares.shape, size).flatten(-2),
        )

    def mix(self, values: Tensor) -> Tensor:
        """λ h + (1 - λ) h_π of values [2n, D] or [2n, R, D]."""
        share = self.share.movedim(-1, 0).unsqueeze(-1).to(values.dtype)
        return share * values + (1.0 - share) * taken(values, self.partner)


def taken(values: Tensor, rows: Tensor) -> Tensor:
    """Rows of values [N, D] by numbers [n], or of [N, R, D] by [R, n]: [n, D] or [n, R, D].

    By indexing, whose gradient is summed in a fixed order on a GPU too; that of `gather` is not.
    """
    rows = rows.movedim(-1, 0)
    if rows.dim() == 1:
        return values[rows]
    return values[rows, torch.arange(rows.shape[1], device=rows.device)]
