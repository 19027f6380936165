"""Which of its neighbours a node is given: k of d, for many nodes at once."""

import torch
from torch import Tensor


def subsets(sizes: Tensor, count: int, generator: torch.Generator | None) -> Tensor:
    """For each size d a uniform `count`-subset of 0..d-1, long [N, count]; every d must be larger than `count`.

    Floyd's way, all rows at once: pick t comes from 0..d - count + t, and one that is taken already gives its place
    to d - count + t itself. So the work does not depend on d: a hub costs as much as any other node.
    """
    numbers = _uniform((len(sizes), count), sizes, generator)
    chosen = sizes.new_empty((len(sizes), count))
    for pick in range(count):
        last = sizes - count + pick
        drawn = (numbers[:, pick] * (last + 1)).long()
        taken = (chosen[:, :pick] == drawn.unsqueeze(1)).any(1)
        chosen[:, pick] = torch.where(taken, last, drawn)
    return chosen


def draws(sizes: Tensor, count: int, generator: torch.Generator | None) -> Tensor:
    """For each size d ≥ 1, `count` independent draws from 0..d-1, long [N, count]."""
    return (_uniform((len(sizes), count), sizes, generator) * sizes.unsqueeze(1)).long()


def _uniform(shape: tuple[int, int], like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Numbers in [0, 1) in double precision: floor(u · d) then is even to one part in 2⁵³ / d."""
    return torch.rand(shape, generator=generator, device=like.device, dtype=torch.float64)
