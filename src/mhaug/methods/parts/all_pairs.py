"""Graphs drawn from all pairs of nodes, block by block: exact, for graphs of some thousand nodes."""

import torch
from torch import Tensor

from mhaug.data.view import View
from mhaug.methods.parts.edge_law import slope_only
from mhaug.methods.parts.edge_sampling import Drawn, Source
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pair_graph import PairGraph
from mhaug.methods.parts.top_pairs import BLOCK, score_blocks


class AllPairs:
    """Each of the V (V - 1) / 2 pairs may be drawn; the law is exact, the memory a block of scores.

    The gradient at the many pairs that were not drawn is that of `absent` random ones, weighted up: right in the
    mean. With `absent` of at least V (V - 1) / 2 it is that of all, once each.
    """

    def __init__(self, source: Source, *, absent: int, block: int = BLOCK) -> None:
        self._source, self._absent, self._block = source, absent, block

    def draw(self, codes: Tensor) -> Drawn:
        """Draw block by block without a gradient, then weigh the pairs that were met."""
        source, nodes = self._source, codes.shape[0]
        scale = source.law.scale(codes, source.known)
        pairs, noise = self._present(codes.detach(), scale.detach())
        edges = pairs.shape[1]
        if not source.weighted:
            drawn = PairGraph.of(pairs, nodes, source.loops)
            return Drawn(drawn.graph(source.original), View(), pairs, noise, edges)
        absent, each = self._absent_pairs(KnownPairs.of(pairs, nodes))
        drawn = PairGraph.of(torch.cat([pairs, absent], 1), nodes, source.loops)
        probability = source.law.probability(drawn.scores(codes), source.known.contains(drawn.pairs), scale)
        # given that a pair was not drawn, its noise is even on [P, 1)
        chance = probability.detach()[edges:]
        fresh = chance + (1.0 - chance) * source.uniform(absent.shape[1]).to(chance.dtype)
        noise = torch.cat([noise, fresh])
        slope = slope_only(source.law.relaxed(probability, noise))
        weights = torch.cat([1.0 + slope[:edges], each * slope[edges:]])
        return Drawn(drawn.graph(source.original), View(drawn.on_columns(weights)), drawn.pairs, noise, edges)

    def state_dict(self) -> dict[str, Tensor]:
        """Nothing."""
        return {}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Nothing to put back."""

    def _present(self, codes: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
        """The pairs drawn, [2, P], and their noise."""
        source, pairs, noises = self._source, [], []
        for first, scores in score_blocks(codes, block=self._block):
            scores *= scale
            edge = source.known.in_rows(first, first + scores.shape[0]) - first
            scores[edge[0], edge[1]] += 1.0 - source.law.predicted_share
            noise = source.uniform(scores.numel()).to(scores.dtype).view(scores.shape)
            row, column = (noise < scores).nonzero(as_tuple=True)
            pairs.append(torch.stack([row, column]) + first)
            noises.append(noise[row, column])
        return torch.cat(pairs, 1), torch.cat(noises)

    def _absent_pairs(self, present: KnownPairs) -> tuple[Tensor, float]:
        """Some pairs that were not drawn, and for how many each of them stands."""
        nodes = present.num_nodes
        total = nodes * (nodes - 1) // 2
        if self._absent >= total:
            pairs = torch.triu_indices(nodes, nodes, 1, device=present.keys.device)
        else:
            pairs = self._source.random_pairs(self._absent)
        return pairs[:, ~present.contains(pairs)], max(total / pairs.shape[1], 1.0) if pairs.shape[1] else 1.0
