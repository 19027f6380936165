"""Attention on a fixed structure: a score for each entry, a softmax over each row, and the sum that it weighs."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from mhaug.backbones import fused
from mhaug.backbones.dropout import dropout
from mhaug.backbones.sparse import Sparse
from mhaug.backbones.structure import Structure

NEGATIVE_SLOPE = 0.2


def attention_product(
    edges: Sparse, by_head: Tensor, vectors: tuple[Tensor, Tensor], rate: float, *, average: bool
) -> Tensor:
    """Σ_j dropout(α_ij) h_j for each head, with α from the scores t_i = a_t · h_i and s_j = a_s · h_j.

    h is `by_head`, [V, ..., H, D]; `vectors` are a_t and a_s, [..., H, D]; the values of `edges` say what is kept.
    With `average` the mean over the heads, [V, ..., D].
    """
    if fused.works_on_cpu(by_head):
        return fused.attention_product(edges.structure, edges.values, by_head, vectors, rate, NEGATIVE_SLOPE, average)
    target, source = ((by_head * vector).sum(-1) for vector in vectors)
    shares = attention(edges.structure, target, source, edges.values)
    shares = dropout(shares, rate) if rate > 0.0 else shares
    mixed = edges.with_values(shares).narrow_product(by_head)
    return mixed.mean(-2) if average else mixed


def attention(structure: Structure, target: Tensor, source: Tensor, kept: Tensor) -> Tensor:
    """α_ij = softmax_j leaky_relu(t_i + s_j) over the kept entries of row i, 0 elsewhere. Each row must keep one.

    `target` and `source` are [V, ..., H], one score a head; `kept` is [entries, ...]; α is [entries, ..., H].
    """
    if fused.works_on(target):
        return fused.attention(structure, target, source, kept, NEGATIVE_SLOPE)
    scores = F.leaky_relu(pair_sums(structure, target, source), NEGATIVE_SLOPE)
    return row_softmax(structure, scores, kept.unsqueeze(-1))


def pair_sums(structure: Structure, target: Tensor, source: Tensor) -> Tensor:
    """target_i + source_j at each entry (i, j)."""
    sums: Tensor = _PairSums.apply(structure, target, source)
    return sums


def row_softmax(structure: Structure, scores: Tensor, kept: Tensor) -> Tensor:
    """exp(s_ij) / Σ_k exp(s_ik) over the kept entries of row i; 0 elsewhere."""
    shares: Tensor = _RowSoftmax.apply(structure, scores, kept)
    return shares


class _PairSums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, structure: Structure, target: Tensor, source: Tensor) -> Tensor:
        ctx.structure = structure
        return target.index_select(0, structure.rows) + source.index_select(0, structure.columns)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, Tensor]:
        # Sums over rows and columns in a fixed order; the scatter that autograd would use varies on a GPU.
        return None, ctx.structure.row_sums(grad), ctx.structure.column_sums(grad)


class _RowSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, structure: Structure, scores: Tensor, kept: Tensor) -> Tensor:
        # Dropped entries leave before the maximum is taken: a large one would push the kept ones to zero.
        scores = scores.masked_fill(~kept, -torch.inf)
        largest = structure.row_maxima(scores).index_select(0, structure.rows)
        powers = (scores - largest).exp()
        shares = powers / structure.row_sums(powers).index_select(0, structure.rows)
        ctx.structure = structure
        ctx.save_for_backward(shares)
        return shares

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor, None]:
        (shares,) = ctx.saved_tensors
        flow = shares * grad
        mean = ctx.structure.row_sums(flow).index_select(0, ctx.structure.rows)
        return None, flow - shares * mean, None
