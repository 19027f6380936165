"""Dropout as one compiled loop: the mask is a hash of a counter, made again backward instead of kept."""

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

LEVELS = 2**16


@njit(inline="always")
def random_word(seed: Any, counter: Any) -> Any:
    """64 random bits: the output of splitmix64 at this place of the stream that `seed` begins."""
    word = seed + np.uint64(counter + 1) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@njit(nogil=True, cache=True, error_model="numpy")
def _scale_kept(values: Any, out: Any, seed: Any, dropped: Any, scale: Any) -> None:
    """One word holds four levels of 16 bits; a value is dropped if its level is among the first `dropped`."""
    zero = scale - scale
    for quad in range(len(values) // 4):
        word = random_word(seed, quad)
        for part in range(4):
            level = (word >> np.uint64(16 * part)) & np.uint64(LEVELS - 1)
            out[4 * quad + part] = values[4 * quad + part] * (scale if level >= dropped else zero)
    done = len(values) // 4 * 4
    word = random_word(seed, done // 4)
    for part in range(len(values) - done):
        level = (word >> np.uint64(16 * part)) & np.uint64(LEVELS - 1)
        out[done + part] = values[done + part] * (scale if level >= dropped else zero)


def random_seed() -> np.uint64:
    """One word of torch's global generator: what a compiled loop hangs its own stream on."""
    return np.uint64(torch.empty((), dtype=torch.int64).random_().item())


class CompiledDropout(torch.autograd.Function):
    """`dropout` for a CPU tensor; `dropped` of the 2¹⁶ levels fall."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, dropped: int, word: int | None) -> Tensor:
        ctx.seed, ctx.dropped = random_seed() if word is None else np.uint64(word), dropped
        return _dropped(values, ctx.seed, dropped)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        return _dropped(grad, ctx.seed, ctx.dropped), None, None


def _dropped(values: Tensor, seed: np.uint64, dropped: int) -> Tensor:
    flat = values.detach().contiguous()
    out = torch.empty_like(flat)
    numbers = flat.view(-1).numpy()
    scale = numbers.dtype.type(LEVELS / (LEVELS - dropped))
    _scale_kept(numbers, out.view(-1).numpy(), seed, np.uint64(dropped), scale)
    return out
