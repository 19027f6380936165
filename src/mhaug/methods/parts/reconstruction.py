"""How well z_u · z_v tells the edges of a graph: the loss of a graph auto-encoder, without a V × V tensor."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pair_graph import PairGraph
from mhaug.methods.parts.top_pairs import BLOCK, upper_blocks

EXACT_NODES = 4000  # up to so many nodes all pairs are looked at; above, a sample of those that are no edges


class Reconstruction:
    """L = w · BCE_pos(Z Zᵀ, Ã) over all ordered pairs, Ã = A + I (Zhao et al. 2021).

    With S entries in Ã, the weights w = V² / 2(V² - S) and pos_weight = (V² - S) / S make it one half of the mean of
    log(1 + exp(-s)) over the entries, plus one half of the mean of log(1 + exp(s)) over all others. The second mean
    is exact (block by block) on small graphs, and that of `negatives` random partners a node on large ones.
    """

    def __init__(self, known: KnownPairs, *, exact: bool | None = None, negatives: int = 20) -> None:
        self._known, self._graph = known, PairGraph.of(known.index, known.num_nodes)
        self.exact = known.num_nodes <= EXACT_NODES if exact is None else exact
        self._negatives = negatives
        self._entries = 2 * known.count + known.num_nodes

    def __call__(self, codes: Tensor, *, uniform: Callable[[int], Tensor]) -> Tensor:
        """The loss of `codes` [V, D]; `uniform` gives so many random numbers in [0, 1)."""
        on_edges, own = self._graph.scores(codes), codes.square().sum(1)
        present = (2.0 * F.softplus(-on_edges).sum() + F.softplus(-own).sum()) / self._entries
        if not self.exact:
            return 0.5 * (present + self._sampled_absent(codes, uniform))
        everywhere = softplus_of_all_pairs(codes)
        there = 2.0 * F.softplus(on_edges).sum() + F.softplus(own).sum()
        others = max(self._known.num_nodes**2 - self._entries, 1)
        return 0.5 * (present + (everywhere - there) / others)

    def _sampled_absent(self, codes: Tensor, uniform: Callable[[int], Tensor]) -> Tensor:
        """Mean of log(1 + exp(s)) over random pairs that are not in Ã.

        Partners come as random orders of all nodes: each order is a gather without repeats, so that its backward adds
        nothing up and is the same every time.
        """
        nodes = torch.arange(codes.shape[0], device=codes.device)
        total, count = codes.new_zeros(()), codes.new_zeros(())
        for _ in range(self._negatives):
            partners = uniform(codes.shape[0]).argsort()
            absent = (partners != nodes) & ~self._known.contains(torch.stack([nodes, partners]))
            costs = F.softplus((codes * codes.index_select(0, partners)).sum(1))
            total, count = total + costs.where(absent, 0.0).sum(), count + absent.sum()
        return total / count.clamp(min=1.0)


def softplus_of_all_pairs(codes: Tensor) -> Tensor:
    """Σ_ij log(1 + exp(z_i · z_j)) over all ordered pairs, i = j among them."""
    total: Tensor = _SoftplusOfAllPairs.apply(codes)
    return total


class _SoftplusOfAllPairs(torch.autograd.Function):
    """The gradient, 2 σ(Z Zᵀ) Z, is found in the same pass over the blocks: nothing is kept or computed again."""

    @staticmethod
    def forward(ctx: Any, codes: Tensor) -> Tensor:
        total, slope = codes.new_zeros((), dtype=torch.float64), torch.zeros_like(codes)
        for first, scores in upper_blocks(codes, block=BLOCK):
            rows = scores.shape[0]
            last = first + rows
            costs, shares = F.softplus(scores), scores.sigmoid_()
            # the square block holds each of its pairs in both orders, the rest of the rows in one
            total += costs[:, :rows].sum(1).sum(dtype=torch.float64)
            total += costs[:, rows:].sum(1).sum(dtype=torch.float64) * 2.0
            slope[first:last] += 2.0 * (shares @ codes[first:])
            slope[last:] += 2.0 * (shares[:, rows:].t() @ codes[first:last])
        ctx.save_for_backward(slope)
        return total.to(codes.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (slope,) = ctx.saved_tensors
        result: Tensor = grad * slope
        return result
