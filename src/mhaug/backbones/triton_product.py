"""Sparse × dense as one GPU kernel, forward and backward.

Values lie as [entries, copies] beside the one small structure, so the rows of all replicas and heads are read in one
sweep: a row of `dense` is copies · width neighbouring numbers. Each output is summed by one program in a fixed order,
so the same input gives the same bits. `Sparse` is the reference.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

from mhaug.backbones.structure import Structure

# Numbers of a row that one program takes, entries that it reads at once, and its warps; by measurement on Computers,
# for ten replicas of eight heads.
BLOCK, ENTRIES, WARPS = 128, 8, 2
BLOCK_OF_DOTS, ENTRIES_OF_DOTS, WARPS_OF_DOTS = 128, 8, 2


@triton.jit
def _product(
    pointers, columns, slots, values, dense, out, copies, row_width,
    WIDTH: tl.constexpr, PADDED: tl.constexpr, TRANSPOSED: tl.constexpr, COPIES: tl.constexpr, ENTRIES: tl.constexpr,
):  # fmt: skip
    """out[row] = Σ values[entry] · dense[column], over the entries of the row.

    Sums stay apart by their place in the tile until the last entry: threads need not meet before.
    """
    row = tl.program_id(0).to(tl.int64)
    copy = tl.program_id(1) * COPIES + tl.arange(0, COPIES)
    offset = tl.arange(0, PADDED)
    place = copy[:, None] * WIDTH + offset[None, :]
    inside = (copy < copies)[:, None] & (offset < WIDTH)[None, :]
    last = tl.load(pointers + row + 1)
    sums = tl.zeros([ENTRIES, COPIES, PADDED], dtype=out.dtype.element_ty)
    for start in range(tl.load(pointers + row), last, ENTRIES):
        entry = start + tl.arange(0, ENTRIES)
        real = entry < last
        column = tl.load(columns + entry, mask=real, other=0).to(tl.int64)
        slot = (tl.load(slots + entry, mask=real, other=0) if TRANSPOSED else entry).to(tl.int64)
        here = real[:, None] & (copy < copies)[None, :]
        weight = tl.load(values + slot[:, None] * copies + copy[None, :], mask=here, other=0.0)
        mask = real[:, None, None] & inside[None, :, :]
        piece = tl.load(dense + column[:, None, None] * row_width + place[None, :, :], mask=mask, other=0.0)
        sums += weight[:, :, None] * piece
    tl.store(out + row * row_width + place, tl.sum(sums, axis=0), mask=inside)


@triton.jit
def _at_entries(
    pointers, columns, left, right, out, copies, row_width,
    WIDTH: tl.constexpr, PADDED: tl.constexpr, COPIES: tl.constexpr, ENTRIES: tl.constexpr,
):  # fmt: skip
    """out[entry, copy] = left[row, copy] · right[column, copy]."""
    row = tl.program_id(0).to(tl.int64)
    copy = tl.program_id(1) * COPIES + tl.arange(0, COPIES)
    offset = tl.arange(0, PADDED)
    place = copy[:, None] * WIDTH + offset[None, :]
    inside = (copy < copies)[:, None] & (offset < WIDTH)[None, :]
    mine = tl.load(left + row * row_width + place, mask=inside, other=0.0)
    last = tl.load(pointers + row + 1)
    for start in range(tl.load(pointers + row), last, ENTRIES):
        entry = start + tl.arange(0, ENTRIES)
        real = entry < last
        column = tl.load(columns + entry, mask=real, other=0).to(tl.int64)
        mask = real[:, None, None] & inside[None, :, :]
        theirs = tl.load(right + column[:, None, None] * row_width + place[None, :, :], mask=mask, other=0.0)
        dots = tl.sum(theirs * mine[None, :, :], axis=2)
        where = entry.to(tl.int64)[:, None] * copies + copy[None, :]
        tl.store(out + where, dots, mask=real[:, None] & (copy < copies)[None, :])


class SparseProduct(torch.autograd.Function):
    """`Sparse @ dense`."""

    @staticmethod
    def forward(ctx: Any, structure: Structure, values: Tensor, dense: Tensor) -> Tensor:
        dense, values = dense.contiguous(), values.contiguous()
        ctx.structure = structure
        ctx.save_for_backward(values, dense if values.requires_grad else None)
        return _multiply(structure, values, dense, transposed=False)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        values, dense = ctx.saved_tensors
        grad = grad.contiguous()
        to_values = _dots(ctx.structure, grad, dense, values) if ctx.needs_input_grad[1] else None
        to_dense = _multiply(ctx.structure, values, grad, transposed=True) if ctx.needs_input_grad[2] else None
        return None, to_values, to_dense


def _multiply(structure: Structure, values: Tensor, dense: Tensor, *, transposed: bool) -> Tensor:
    rows = structure.shape[1] if transposed else structure.shape[0]
    pointers = structure.transposed_pointers if transposed else structure.pointers
    columns = structure.transposed_columns if transposed else structure.columns
    out = dense.new_empty((rows, *dense.shape[1:]))
    row_width, copies = dense[0].numel(), values[0].numel()
    tile = _tile(row_width // copies, copies, BLOCK)
    _product[(rows, triton.cdiv(copies, tile["COPIES"]))](
        pointers, columns, structure.order, values, dense, out, copies, row_width,
        TRANSPOSED=transposed, ENTRIES=ENTRIES, num_warps=WARPS, **tile,
    )  # fmt: skip
    return out


def _dots(structure: Structure, left: Tensor, right: Tensor, values: Tensor) -> Tensor:
    out = torch.empty_like(values)
    row_width, copies = left[0].numel(), values[0].numel()
    tile = _tile(row_width // copies, copies, BLOCK_OF_DOTS)
    _at_entries[(structure.shape[0], triton.cdiv(copies, tile["COPIES"]))](
        structure.pointers, structure.columns, left, right, out, copies, row_width,
        ENTRIES=ENTRIES_OF_DOTS, num_warps=WARPS_OF_DOTS, **tile,
    )  # fmt: skip
    return out


def _tile(width: int, copies: int, block: int) -> dict[str, int]:
    """Copies of a row that one program takes: as many as fit in `block` numbers."""
    padded = triton.next_power_of_2(width)
    most = max(1, block // padded)
    return {"WIDTH": width, "PADDED": padded, "COPIES": min(most, triton.next_power_of_2(copies))}
