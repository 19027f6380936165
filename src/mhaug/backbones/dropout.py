"""Dropout that does not cost more than the layer it follows."""

import functools
from importlib.util import find_spec

import torch
from torch import Tensor
from torch.nn import functional as F

from mhaug.per_replica import PerReplica


def dropout(values: Tensor, rate: PerReplica) -> Tensor:
    """Each value becomes 0 with probability `rate`, else value / (1 - rate); from torch's global generator.

    On a CPU with numba the rate is rounded to a multiple of 2⁻¹⁶, and the scale is that of the rounded rate, so the
    mean is exact; torch's own takes ten times as long. Rates of replicas come as a tensor that broadcasts.
    """
    if isinstance(rate, Tensor):
        kept = torch.rand_like(values) >= rate
        return values * (kept / (1.0 - rate).clamp(min=1e-12))
    if values.device.type != "cpu" or not _has_numba():
        return F.dropout(values, rate)
    from mhaug.backbones.compiled_dropout import LEVELS, CompiledDropout

    dropped = round(rate * LEVELS)
    if dropped in (0, LEVELS):
        return F.dropout(values, dropped / LEVELS)
    product: Tensor = CompiledDropout.apply(values, dropped)
    return product


@functools.cache
def _has_numba() -> bool:
    return find_spec("numba") is not None
