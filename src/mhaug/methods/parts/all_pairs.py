"""Which pairs are edges of a drawn graph, by a look at every pair, block by block."""

import torch
from torch import Tensor

from mhaug.methods.parts.edge_law import Scale
from mhaug.methods.parts.edge_sampling import Source
from mhaug.methods.parts.top_pairs import BLOCK, score_blocks


class AllPairs:
    """One uniform number for each of the V (V - 1) / 2 pairs: independent draws. The memory is a block of scores."""

    def __init__(self, source: Source, *, block: int = BLOCK) -> None:
        self._source, self._block = source, block

    def __call__(self, codes: Tensor, scale: Scale) -> tuple[Tensor, Tensor]:
        """The pairs drawn, [2, P], and their noise."""
        source, pairs, noises = self._source, [], []
        for first, scores in score_blocks(codes, block=self._block):
            row, column = source.known.in_rows(first, first + scores.shape[0]) - first
            on_edges = scores[row, column]
            scores *= scale.others
            scores[row, column] = source.law.probability(on_edges, torch.ones_like(row, dtype=torch.bool), scale)
            noise = source.uniform(scores.numel()).to(scores.dtype).view(scores.shape)
            row, column = (noise < scores).nonzero(as_tuple=True)
            pairs.append(torch.stack([row, column]) + first)
            noises.append(noise[row, column])
        return torch.cat(pairs, 1), torch.cat(noises)
