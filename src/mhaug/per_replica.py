"""Numbers of runs that are trained side by side: one for all, or one for each replica."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from mhaug import checks

PerReplica = float | Tensor  # a tensor is [R]


def merged(values: Sequence[float], *, device: torch.device | str = "cpu") -> PerReplica:
    """One number where all replicas agree, else a tensor [R]."""
    if all(value == values[0] for value in values):
        return values[0]
    return torch.tensor(values, dtype=torch.get_default_dtype(), device=device)


def is_on(value: PerReplica) -> bool:
    """Whether a term has to be computed at all: its weight is above 0, or differs between replicas."""
    return isinstance(value, Tensor) or value > 0.0


def aligned(value: PerReplica, axes: int) -> PerReplica:
    """Ready to be combined with [R, ...] that has so many axes after the first."""
    return value.reshape(-1, *[1] * axes) if isinstance(value, Tensor) else value


def check_number(value: PerReplica, name: str, low: float, high: float = math.inf, *, open_low: bool = False) -> None:
    """Refuse a number out of range. Those of replicas were checked one by one, before they were merged."""
    if not isinstance(value, Tensor):
        checks.number_in(value, name, low, high, open_low=open_low)
