"""Link prediction as a pretext task: from the rows of two nodes, are they linked?"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from mhaug import checks
from mhaug.methods.parts.known_pairs import KnownPairs

# numbers gathered at a time: on a CPU what fits its cache is eight times as fast, a GPU wants few large pieces
_PIECE = {"cpu": 2**19, "cuda": 2**27}


class LinkPrediction:
    """Links of a graph against as many sampled pairs that are none, by the inner product of their rows.

    The decoder is σ(h_iᵀ h_j), without weights of its own. Links and other pairs weigh the same in total, which is
    the weight ω = others / links of the published loss; over all pairs the mean of the others would be exact, and
    needs V² numbers.
    """

    def __init__(self, edge_index: Tensor, num_nodes: int, *, negatives: int) -> None:
        self._known = KnownPairs.of(edge_index, num_nodes)
        checks.require(self._known.count > 0, "graph", "of at least one link, for links to be predicted", 0)
        self._links, self._num_nodes = self._known.index, num_nodes
        self._drawn = negatives * self._known.count

    def loss(self, rows: Tensor) -> Tensor:
        """½ mean over links of -log σ(s) + ½ mean over other pairs of -log(1 - σ(s)), for rows [..., V, D]."""
        # uniform pairs from torch's global generator; one draw serves all replicas
        pairs = torch.randint(self._num_nodes, (2, self._drawn), device=rows.device)
        # a drawn link, or a node with itself, counts as nothing, which keeps shapes fixed
        counted = ((pairs[0] != pairs[1]) & ~self._known.contains(pairs)).to(rows.dtype)
        by_node = rows.movedim(-2, 0)
        linked, drawn = pair_products(by_node, self._links), pair_products(by_node, pairs)
        others = torch.tensordot(counted, F.softplus(drawn), 1) / counted.sum().clamp(min=1.0)
        return 0.5 * (F.softplus(-linked).mean(0) + others)


def pair_products(rows: Tensor, pairs: Tensor) -> Tensor:
    """h_iᵀ h_j of rows [V, ..., D] for each column (i, j) of `pairs` [2, P]: [P, ...]. Never holds P × D numbers."""
    products: Tensor = _PairProducts.apply(rows, pairs)
    return products


class _PairProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, pairs: Tensor) -> Tensor:
        ctx.save_for_backward(rows, pairs)
        gathered = ((rows.index_select(0, i), rows.index_select(0, j)) for i, j in _pieces(rows, pairs))
        return torch.cat([left.mul_(right).sum(-1) for left, right in gathered])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        rows, pairs = ctx.saved_tensors
        total, done = torch.zeros_like(rows), 0
        for i, j in _pieces(rows, pairs):
            share = grad[done : done + i.shape[0]].unsqueeze(-1)
            total.index_add_(0, i, rows.index_select(0, j).mul_(share))
            total.index_add_(0, j, rows.index_select(0, i).mul_(share))
            done += i.shape[0]
        return total, None


def _pieces(rows: Tensor, pairs: Tensor) -> Iterator[Tensor]:
    size = max(1, _PIECE.get(rows.device.type, _PIECE["cpu"]) // max(1, rows[0].numel()))
    return iter(pairs.split(size, 1))
