"""Attention coefficients as one GPU kernel, forward and backward. `attention.py` is the reference."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable

from mhaug.backbones.structure import Structure

COPIES, ENTRIES = 16, 16  # heads of replicas and entries that one program reads at once; by measurement
WARPS = 4


@triton.jit
def _score(target, source, kept, entry, column, copy, mask, copies, HEADS: tl.constexpr, slope):
    raw = target[None, :] + tl.load(source + column[:, None] * copies + copy[None, :], mask=mask, other=0.0)
    is_kept = tl.load(kept + entry[:, None] * (copies // HEADS) + (copy // HEADS)[None, :], mask=mask, other=0)
    return tl.where((is_kept != 0) & mask, tl.where(raw > 0, raw, raw * slope), float("-inf"))


@triton.jit
def _attend(
    pointers, columns, targets, source, kept, out, copies, slope,
    HEADS: tl.constexpr, COPIES: tl.constexpr, ENTRIES: tl.constexpr,
):  # fmt: skip
    """Softmax over the kept entries of a row: the largest score, the sum of powers, the shares.

    Each place of the tile has a maximum and a sum of its own until the last entry: threads need not meet before.
    """
    row = tl.program_id(0).to(tl.int64)
    copy = tl.program_id(1) * COPIES + tl.arange(0, COPIES)
    inside = copy < copies
    target = tl.load(targets + row * copies + copy, mask=inside, other=0.0)
    first, last = tl.load(pointers + row), tl.load(pointers + row + 1)
    maxima = tl.full([ENTRIES, COPIES], float("-inf"), dtype=out.dtype.element_ty)
    sums = tl.zeros([ENTRIES, COPIES], dtype=out.dtype.element_ty)
    for start in range(first, last, ENTRIES):
        entry = start + tl.arange(0, ENTRIES)
        column = tl.load(columns + entry, mask=entry < last, other=0).to(tl.int64)
        mask = (entry < last)[:, None] & inside[None, :]
        score = _score(target, source, kept, entry.to(tl.int64), column, copy, mask, copies, HEADS, slope)
        larger = tl.maximum(maxima, score)
        # nothing kept so far: both are minus infinity, and their difference would be no number
        shift = tl.where(larger == float("-inf"), 0.0, larger)
        sums = sums * tl.exp(maxima - shift) + tl.exp(score - shift)
        maxima = larger
    largest = tl.max(maxima, axis=0)
    shift = tl.where(largest == float("-inf"), 0.0, largest)
    total = tl.sum(sums * tl.exp(maxima - shift[None, :]), axis=0)
    for start in range(first, last, ENTRIES):
        entry = start + tl.arange(0, ENTRIES)
        column = tl.load(columns + entry, mask=entry < last, other=0).to(tl.int64)
        mask = (entry < last)[:, None] & inside[None, :]
        score = _score(target, source, kept, entry.to(tl.int64), column, copy, mask, copies, HEADS, slope)
        share = tl.exp(score - largest[None, :]) / total[None, :]
        tl.store(out + entry.to(tl.int64)[:, None] * copies + copy[None, :], share, mask=mask)


@triton.jit
def _attend_backward(
    pointers, columns, targets, source, shares, grad, out, to_target, copies, slope,
    COPIES: tl.constexpr, ENTRIES: tl.constexpr,
):  # fmt: skip
    """From the gradient of the shares to that of t_i + s_j at each entry, and its sum over the row."""
    row = tl.program_id(0).to(tl.int64)
    copy = tl.program_id(1) * COPIES + tl.arange(0, COPIES)
    inside = copy < copies
    target = tl.load(targets + row * copies + copy, mask=inside, other=0.0)
    first, last = tl.load(pointers + row), tl.load(pointers + row + 1)
    flows = tl.zeros([ENTRIES, COPIES], dtype=out.dtype.element_ty)
    for start in range(first, last, ENTRIES):
        entry = (start + tl.arange(0, ENTRIES)).to(tl.int64)
        mask = (entry < last)[:, None] & inside[None, :]
        where = entry[:, None] * copies + copy[None, :]
        share = tl.load(shares + where, mask=mask, other=0.0)
        flows += share * tl.load(grad + where, mask=mask, other=0.0)
    mean = tl.sum(flows, axis=0)
    sums = tl.zeros([ENTRIES, COPIES], dtype=out.dtype.element_ty)
    for start in range(first, last, ENTRIES):
        entry = (start + tl.arange(0, ENTRIES)).to(tl.int64)
        mask = (entry < last)[:, None] & inside[None, :]
        where = entry[:, None] * copies + copy[None, :]
        column = tl.load(columns + entry, mask=entry < last, other=0).to(tl.int64)
        raw = target[None, :] + tl.load(source + column[:, None] * copies + copy[None, :], mask=mask, other=0.0)
        share = tl.load(shares + where, mask=mask, other=0.0)
        flow = share * (tl.load(grad + where, mask=mask, other=0.0) - mean[None, :])
        flow = tl.where(raw > 0, flow, flow * slope)
        tl.store(out + where, flow, mask=mask)
        sums += flow
    tl.store(to_target + row * copies + copy, tl.sum(sums, axis=0), mask=inside)


@triton.jit
def _sum_columns(
    pointers, slots, values, out, copies,
    COPIES: tl.constexpr, ENTRIES: tl.constexpr,
):  # fmt: skip
    """out[column] = Σ values[entry], over the entries of the column."""
    column = tl.program_id(0).to(tl.int64)
    copy = tl.program_id(1) * COPIES + tl.arange(0, COPIES)
    inside = copy < copies
    last = tl.load(pointers + column + 1)
    sums = tl.zeros([ENTRIES, COPIES], dtype=out.dtype.element_ty)
    for start in range(tl.load(pointers + column), last, ENTRIES):
        entry = start + tl.arange(0, ENTRIES)
        slot = tl.load(slots + entry, mask=entry < last, other=0).to(tl.int64)
        mask = (entry < last)[:, None] & inside[None, :]
        sums += tl.load(values + slot[:, None] * copies + copy[None, :], mask=mask, other=0.0)
    tl.store(out + column * copies + copy, tl.sum(sums, axis=0), mask=inside)


class Attention(torch.autograd.Function):
    """`attention.attention`."""

    @staticmethod
    def forward(ctx: Any, structure: Structure, target: Tensor, source: Tensor, kept: Tensor, slope: float) -> Tensor:
        target, source, kept = target.contiguous(), source.contiguous(), kept.contiguous()
        copies, heads = target[0].numel(), target.shape[-1]
        shares = target.new_empty((structure.num_entries, *target.shape[1:]))
        tile, grid = _tile(structure, copies)
        _attend[grid](
            structure.pointers, structure.columns, target, source, kept, shares, copies, slope, HEADS=heads, **tile
        )
        ctx.structure, ctx.slope = structure, slope
        ctx.save_for_backward(target, source, shares)
        return shares

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor, None, None]:
        target, source, shares = ctx.saved_tensors
        structure, copies = ctx.structure, target[0].numel()
        at_entries, to_target = torch.empty_like(shares), torch.empty_like(target)
        tile, grid = _tile(structure, copies)
        _attend_backward[grid](
            structure.pointers, structure.columns, target, source, shares, grad.contiguous(), at_entries, to_target,
            copies, ctx.slope, **tile,
        )  # fmt: skip
        to_source = torch.empty_like(source)
        _sum_columns[(structure.shape[1], grid[1])](
            structure.transposed_pointers, structure.order, at_entries, to_source, copies, **tile
        )
        return None, to_target, to_source, None, None


def _tile(structure: Structure, copies: int) -> tuple[dict[str, int], tuple[int, int]]:
    tile = min(COPIES, triton.next_power_of_2(copies))
    grid = (structure.shape[0], triton.cdiv(copies, tile))
    return {"COPIES": tile, "ENTRIES": ENTRIES, "num_warps": WARPS}, grid
