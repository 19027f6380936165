"""Two searches for the perturbation that changes predictions most: the two variants of BVAT."""

import math
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from mhaug.per_replica import PerReplica, aligned

# how far the prediction of each node moves, [V] or [R, V], by the coordinates of the perturbation
Divergence = Callable[[Tensor], Tensor]

BETAS, EPSILON = (0.9, 0.999), 1e-8


class Adversary(Protocol):
    """Coordinates are [V, M], or [V, R, M] for replicas, and so are the random numbers in [0, 1) of a search."""

    def find(self, divergence: Divergence, nodes: Tensor | None, numbers: Tensor) -> Tensor:
        """The coordinates of a perturbation that moves the predictions of `nodes`, bool [V] or [R, V]; None: all."""
        ...

    def state_dict(self) -> dict[str, Tensor]:
        """All that a resumed run needs."""
        ...


class PowerIteration(Adversary):
    """A random direction at each node, turned towards the one in which the divergence grows fastest.

    A gradient at `probe_length` from the features, of rows of length `length` in the end. With dropout the masks of
    the two passes differ, so the gradient does not vanish with the probe, and is in truth one of first order.
    """

    def __init__(self, *, iterations: int, **lengths: PerReplica) -> None:
        self._iterations = iterations
        self._probe_length, self._length = (aligned(lengths[name], 1) for name in ("probe_length", "length"))

    def find(self, divergence: Divergence, nodes: Tensor | None, numbers: Tensor) -> Tensor:
        """Rows that no counted prediction depends on stay 0."""
        direction = normal(numbers, within=5.0)
        for _ in range(self._iterations):
            probe = (self._probe_length * unit_rows(direction)).requires_grad_()
            moved = divergence(probe)
            moved = moved if nodes is None else moved.where(nodes, 0.0)
            (direction,) = torch.autograd.grad(moved.sum(), probe)
        return self._length * unit_rows(direction)

    def state_dict(self) -> dict[str, Tensor]:
        """Nothing: each step starts afresh."""
        return {}


class OptimisedNoise(Adversary):
    """Fresh noise, then a few steps of Adam on (w/2)·|Y|² - mean divergence.

    Adam's moments are kept from one update of the network to the next, as in the released code: with moments of
    their own the few steps would be of fixed size, and take most of the noise to 0.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        like: Tensor,
        *,
        steps: int,
        rate: PerReplica,
        noise: PerReplica,
        length_weight: PerReplica,
    ) -> None:
        self._steps, self._rate, self._noise = steps, aligned(rate, 1), aligned(noise, 1)
        self._length_weight = aligned(length_weight, 1)
        self._mean, self._square = (torch.zeros(shape, dtype=like.dtype, device=like.device) for _ in range(2))
        self._count = torch.zeros((), dtype=like.dtype, device=like.device)

    def find(self, divergence: Divergence, nodes: Tensor | None, numbers: Tensor) -> Tensor:
        """All nodes are perturbed, and those of `nodes` counted."""
        noise = self._noise * normal(numbers, within=2.0)
        for _ in range(self._steps):
            noise.requires_grad_()
            moved = divergence(noise)
            mean = moved.mean(-1) if nodes is None else moved.where(nodes, 0.0).sum(-1) / nodes.sum(-1)
            (uphill,) = torch.autograd.grad(mean.sum(), noise)
            noise = self._adam_step(noise.detach(), self._length_weight * noise.detach() - uphill)
        return noise

    def state_dict(self) -> dict[str, Tensor]:
        """Adam's moments and its count of steps."""
        return {"mean": self._mean, "square": self._square, "count": self._count}

    def _adam_step(self, values: Tensor, gradient: Tensor) -> Tensor:
        self._count += 1
        self._mean.lerp_(gradient, 1.0 - BETAS[0])
        self._square.lerp_(gradient.square_(), 1.0 - BETAS[1])
        size = (self._square / (1.0 - BETAS[1] ** self._count)).sqrt_().add_(EPSILON)
        return values - self._rate / (1.0 - BETAS[0] ** self._count) * (self._mean / size)


def unit_rows(rows: Tensor) -> Tensor:
    """Each row at length 1; a row of zeros stays. By its largest entry first, whose square might underflow."""
    tiny = torch.finfo(rows.dtype).tiny
    rows = rows / rows.abs().amax(-1, keepdim=True).clamp(min=tiny)
    return rows / rows.norm(dim=-1, keepdim=True).clamp(min=tiny)


def normal(numbers: Tensor, *, within: float) -> Tensor:
    """Standard normal numbers given that they lie within ±`within`, from as many in [0, 1)."""
    share = math.erf(within / math.sqrt(2.0))
    return numbers.mul(2.0).sub_(1.0).mul_(share).erfinv_().mul_(math.sqrt(2.0))
