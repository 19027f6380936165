"""Attention on the CPU as one step for autograd: what lies between the loops of `attention_loops` and torch."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from mhaug.backbones.attention_loops import fill_scores, fill_words, flow_back, heads_last, kept_entries, mix_rows
from mhaug.backbones.compiled_dropout import LEVELS, random_seed
from mhaug.backbones.structure import Structure


class CompiledAttention(torch.autograd.Function):
    """`attention.attention_product` on the CPU, for one network: h is [V, H, D], a_t and a_s are [H, D]."""

    @staticmethod
    def forward(
        ctx: Any, structure: Structure, kept: Tensor, h: Tensor, a_t: Tensor, a_s: Tensor, rate: float, slope: float,
        average: bool,
    ) -> Tensor:  # fmt: skip
        nodes, heads, width = h.shape
        dropped = round(rate * LEVELS)
        # where all are dropped, none is, and the scale is 0
        dropped, scale = (0, 0.0) if dropped == LEVELS else (dropped, LEVELS / (LEVELS - dropped))
        columns, dtype = structure.columns.numpy(), h.detach().numpy().dtype
        ends, sources = np.empty(nodes, np.int64), np.empty_like(columns)
        count = kept_entries(structure.pointers.numpy(), columns, kept.numpy(), ends, sources)
        words = np.empty((count * heads + 3) // 4, np.uint64)
        if dropped:
            fill_words(words, random_seed())
        rows, scores, shares = (np.empty((size, heads), dtype) for size in (nodes * width, 2 * nodes, count))
        vectors = np.stack([a_t.detach().numpy(), a_s.detach().numpy()]).swapaxes(1, 2).copy()
        numbers = np.array([0.0, 1.0, slope, scale, -np.inf, 1.0 / heads], dtype)
        out, like = np.empty((nodes, 1 if average else heads, width), dtype), (0,) * heads
        heads_last(h.detach().contiguous().numpy(), rows)
        fill_scores(rows, vectors, numbers, scores, like)
        mix_rows(ends, sources, rows, scores, words.view(np.uint16), np.uint16(dropped), numbers, shares, out, like)
        ctx.average = average
        saved = (ends, sources, rows, vectors, scores, shares, numbers)
        ctx.save_for_backward(*(torch.from_numpy(part) for part in saved))
        return torch.from_numpy(out[:, 0] if average else out)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        saved = [part.numpy() for part in ctx.saved_tensors]
        _, _, rows, vectors, scores, _, _ = saved
        grad = (grad.unsqueeze(1) if ctx.average else grad).contiguous()
        to_rows, to_vectors, to_scores = (np.zeros_like(part) for part in (rows, vectors, scores))
        to_h = np.empty((len(grad), rows.shape[1], grad.shape[2]), rows.dtype)
        flow_back(*saved, grad.numpy(), to_rows, to_vectors, to_scores, to_h, (0,) * rows.shape[1])
        to_target, to_source = torch.from_numpy(to_vectors).transpose(1, 2)
        return None, None, torch.from_numpy(to_h), to_target, to_source, None, None, None
