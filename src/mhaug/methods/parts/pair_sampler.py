"""A graph drawn from an edge predictor's law, with a gradient to the codes."""

import torch
from torch import Tensor

from mhaug.backbones.graph_input import GraphInput
from mhaug.data.view import View
from mhaug.methods.parts.all_pairs import AllPairs
from mhaug.methods.parts.edge_law import slope_only
from mhaug.methods.parts.edge_sampling import Drawn, Find, Source
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pair_graph import PairGraph
from mhaug.methods.parts.proposed_pairs import ProposedPairs
from mhaug.methods.parts.reconstruction import EXACT_NODES

PAIRS = ("auto", "all", "proposed")


def found_by(pairs: str, source: Source) -> Find:
    """All pairs or proposed ones; "auto" decides by the number of nodes."""
    every = pairs == "all" or (pairs == "auto" and source.known.num_nodes <= EXACT_NODES)
    return AllPairs(source) if every else ProposedPairs(source)


class PairSampler:
    """`find` says without a gradient which pairs are drawn; these are then weighed: 1, with the slope of the draw.

    The gradient at the many pairs that were not drawn, whose weight is 0, is that of `absent` random ones, weighted
    up: right in the mean. With `absent` of at least V (V - 1) / 2 it is that of all, once each.
    """

    def __init__(self, source: Source, find: Find, *, absent: int) -> None:
        self._source, self._find, self._absent = source, find, absent

    def draw(self, codes: Tensor) -> Drawn:
        """One graph, with a gradient to the codes [V, D] where the backbone takes weights."""
        source, nodes = self._source, codes.shape[0]
        with torch.no_grad():
            pairs, noise = self._find(codes, source.law.scale(codes, source.known))
        edges = pairs.shape[1]
        if not source.weighted:
            return Drawn(self._hard(pairs), View(), pairs, noise, edges)
        absent, each = self._absent_pairs(KnownPairs.of(pairs, nodes))
        drawn = PairGraph.of(torch.cat([pairs, absent], 1), nodes, source.loops)
        scale = source.law.scale(codes, source.known)
        probability = source.law.probability(drawn.scores(codes), source.known.contains(drawn.pairs), scale)
        # given that a pair was not drawn, its noise is even on [P, 1)
        chance = probability.detach()[edges:]
        fresh = chance + (1.0 - chance) * source.uniform(absent.shape[1]).to(chance.dtype)
        noise = torch.cat([noise, fresh])
        slope = slope_only(source.law.relaxed(probability, noise))
        weights = torch.cat([1.0 + slope[:edges], each * slope[edges:]])
        columns = drawn.on_columns(weights, times=source.times(drawn.pairs))
        return Drawn(drawn.graph(source.original), View(columns), drawn.pairs, noise, edges)

    def _hard(self, pairs: Tensor) -> GraphInput:
        """These pairs alone, for backbones that take no weights."""
        source, times = self._source, self._source.times(pairs)
        if times is None:
            return PairGraph.of(pairs, source.original.num_nodes, source.loops).graph(source.original)
        there, back = pairs.repeat_interleave(times[0], 1), pairs.flip(0).repeat_interleave(times[1], 1)
        return source.original.with_edges(torch.cat([there, back, source.loops], 1))

    def _absent_pairs(self, present: KnownPairs) -> tuple[Tensor, float]:
        """Some pairs that were not drawn, and for how many each of them stands."""
        nodes = present.num_nodes
        total = nodes * (nodes - 1) // 2
        if self._absent >= total:
            pairs = torch.triu_indices(nodes, nodes, 1, device=present.keys.device)
        else:
            pairs = self._source.random_pairs(self._absent)
        return pairs[:, ~present.contains(pairs)], max(total / pairs.shape[1], 1.0) if pairs.shape[1] else 1.0
