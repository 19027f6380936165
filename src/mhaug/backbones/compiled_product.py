"""Sparse × dense on a CPU: a row of the result stays in registers until it is done.

Faster than MKL's product of compressed rows with a dense matrix (`results/training/profile.md`), for rows that are
made of whole vectors; others are left to MKL.
"""

import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor

from mhaug.backbones.lanes import load, prefetch, spread, store

WIDTHS = (64, 32, 16)  # numbers that are worked on at once; 64 floats are four of the longest registers
_AHEAD = 16  # entries; rows of a large matrix come from memory, in no order
_SHARE = 2**22  # products of two numbers that are worth a thread of their own


def fits(width: int) -> bool:
    """Whether rows of so many numbers are made of whole vectors."""
    return width > 0 and width % WIDTHS[-1] == 0


def product(pointers: Tensor, columns: Tensor, values: Tensor, dense: Tensor) -> Tensor:
    """A·D [rows, width], for A in compressed rows. The same bits for any number of threads."""
    width = dense.shape[1]
    lanes = next(each for each in WIDTHS if width % each == 0)
    out = dense.new_empty(len(pointers) - 1, width)
    ends = pointers.numpy()
    matrix = (ends, *(each.detach().contiguous().numpy() for each in (columns, values)))
    rows = [each.detach().contiguous().numpy().reshape(-1, lanes) for each in (dense, out)]
    options = (matrix, *rows, width // lanes, matrix[2].dtype.type(0), (0,) * lanes)
    cuts = _cuts(ends, min(torch.get_num_threads(), 1 + len(columns) * width // _SHARE))
    if len(cuts) == 2:
        _multiply(0, len(out), *options)
    else:
        list(_pool(len(cuts) - 1).map(lambda first, last: _multiply(first, last, *options), cuts[:-1], cuts[1:]))
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _multiply(first: int, last: int, matrix: Any, dense: Any, out: Any, blocks: int, zero: Any, like: Any) -> None:
    """Rows `first` to `last` - 1; a row of `dense` and `out` is `blocks` vectors as long as `like`."""
    pointers, columns, values = matrix
    final = len(columns) - 1
    for row in range(first, last):
        for block in range(blocks):
            total = spread(zero, like)
            for entry in range(pointers[row], pointers[row + 1]):
                prefetch(dense, np.int64(columns[min(entry + _AHEAD, final)]) * blocks + block, like)
                place = np.int64(columns[entry]) * blocks + block
                total = total + spread(values[entry], like) * load(dense, place, like)
            store(out, row * blocks + block, total)


def _cuts(pointers: Any, parts: int) -> list[int]:
    """Rows between which there are about equally many entries."""
    inner = [int(np.searchsorted(pointers, pointers[-1] * part // parts)) for part in range(1, parts)]
    return [0, *inner, len(pointers) - 1]


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)
