"""Dropout that does not cost more than the layer it follows."""

import torch
from torch import Tensor
from torch.nn import functional as F

from mhaug.per_replica import PerReplica

_LEVELS = 2**16


def dropout(values: Tensor, rate: PerReplica) -> Tensor:
    """Each value becomes 0 with probability `rate`, else value / (1 - rate); from torch's global generator.

    On a CPU the rate is rounded to a multiple of 2⁻¹⁶, and the scale is that of the rounded rate, so the mean is
    exact. torch's own draws one number a value and takes some four times as long, half of a whole training step.
    Rates of replicas come as a tensor that broadcasts.
    """
    if isinstance(rate, Tensor):
        kept = torch.rand_like(values) >= rate
        return values * (kept / (1.0 - rate).clamp(min=1e-12))
    dropped_levels = round(rate * _LEVELS)
    if values.device.type != "cpu" or dropped_levels in (0, _LEVELS):
        return F.dropout(values, rate)
    # One 64-bit draw holds four 16-bit levels, each uniform on -2¹⁵ … 2¹⁵ - 1.
    words = torch.empty((values.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    levels = words.view(torch.int16)[: values.numel()].view(values.shape)
    kept = (levels >= dropped_levels - _LEVELS // 2).to(values.dtype)
    return values * kept.mul_(_LEVELS / (_LEVELS - dropped_levels))
