"""Dropout that does not cost more than the layer it follows."""

import functools
from importlib.util import find_spec

import torch
from torch import Tensor
from torch.nn import functional as F

from mhaug.per_replica import PerReplica


def dropout(values: Tensor, rate: PerReplica, word: int | None = None) -> Tensor:
    """Each value becomes 0 with probability `rate`, else value / (1 - rate).

    The mask comes from torch's global generator, or from a stream that begins with `word`, in 0..2⁶³-1. On a CPU with
    numba the rate is rounded to a multiple of 2⁻¹⁶, and the scale is that of the rounded rate, so the mean is exact;
    torch's own takes ten times as long. Rates of replicas come as a tensor that broadcasts.
    """
    if isinstance(rate, Tensor):
        assert word is None, "replicas draw from the global generator"
        kept = torch.rand_like(values) >= rate
        return values * (kept / (1.0 - rate).clamp(min=1e-12))
    if values.device.type != "cpu" or not _has_numba():
        return F.dropout(values, rate) if word is None else _from_word(values, rate, word)
    from mhaug.backbones.compiled_dropout import LEVELS, CompiledDropout

    dropped = round(rate * LEVELS)
    if dropped in (0, LEVELS):
        return F.dropout(values, dropped / LEVELS)
    product: Tensor = CompiledDropout.apply(values, dropped, word)
    return product


def _from_word(values: Tensor, rate: float, word: int) -> Tensor:
    generator = torch.Generator(values.device).manual_seed(word)
    kept = torch.rand(values.shape, generator=generator, dtype=values.dtype, device=values.device) >= rate
    return values * (kept / max(1.0 - rate, 1e-12))


@functools.cache
def _has_numba() -> bool:
    return find_spec("numba") is not None
