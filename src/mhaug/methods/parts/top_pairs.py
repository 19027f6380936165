"""The best of all node pairs by z_u · z_v, block by block: no V × V tensor is ever held.

A block has at most `BLOCK` scores, or one row where a row is longer.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from mhaug.methods.parts.known_pairs import KnownPairs

BLOCK = 2**22  # 16 MiB in single precision


def upper_blocks(codes: Tensor, *, block: int = BLOCK) -> Iterator[tuple[int, Tensor]]:
    """Z Zᵀ from its diagonal on, as (first row a, scores [rows, V - a]); column 0 is node a.

    The first columns are a square, whose pairs are there in both orders. The scores are the caller's to change.
    """
    num_nodes, first = codes.shape[0], 0
    while first < num_nodes:
        rows = min(max(1, block // (num_nodes - first)), num_nodes - first)
        yield first, codes[first : first + rows] @ codes[first:].t()
        first += rows


def score_blocks(codes: Tensor, *, block: int = BLOCK) -> Iterator[tuple[int, Tensor]]:
    """The same, with minus infinity on and below the diagonal: each pair once."""
    for first, scores in upper_blocks(codes, block=block):
        rows = scores.shape[0]
        lower = torch.ones(rows, rows, dtype=torch.bool, device=codes.device).tril_()
        scores[:, :rows].masked_fill_(lower, -torch.inf)
        yield first, scores


@torch.no_grad()
def likeliest_missing(codes: Tensor, count: int, known: KnownPairs, *, block: int = BLOCK) -> Tensor:
    """The `count` pairs of largest score that are not `known`, best first, [2, ≤ count]; of equals the first."""
    best = codes.new_empty(0)
    keys = known.keys.new_empty(0)
    for first, scores in score_blocks(codes, block=block):
        rows = known.in_rows(first, first + scores.shape[0]) - first
        scores[rows[0], rows[1]] = -torch.inf
        row, column = (scores >= _floor(scores, best, count)).nonzero(as_tuple=True)
        # the best so far come first and blocks come in order, so that a stable sort settles ties by node number
        best, order = torch.cat([best, scores[row, column]]).sort(descending=True, stable=True)
        keys = torch.cat([keys, (row + first) * known.num_nodes + column + first])[order[:count]]
        best = best[:count]
    return torch.stack([keys // known.num_nodes, keys % known.num_nodes])


def _floor(scores: Tensor, best: Tensor, count: int) -> Tensor:
    """A score that the next block's winners must reach: only a few pairs are then sorted."""
    if count == 0:
        return scores.new_tensor(torch.inf)
    inside = scores.flatten().topk(min(count, scores.numel())).values[-1]
    # minus infinity marks what is no candidate at all
    lowest = torch.finfo(scores.dtype).min
    return inside.clamp(min=best[-1].item() if len(best) == count else lowest)
