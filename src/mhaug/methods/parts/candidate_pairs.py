"""Graphs drawn from a set of candidate pairs: for graphs whose pairs are too many to look at in each step."""

import torch
from torch import Tensor

from mhaug.data.view import View
from mhaug.methods.parts.edge_law import slope_only
from mhaug.methods.parts.edge_sampling import Drawn, Source
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pair_graph import PairGraph
from mhaug.methods.parts.top_pairs import BLOCK, likeliest_of_each


class CandidatePairs:
    """Only candidates may be drawn: the edges, the likeliest partners of each node, and random pairs.

    For graphs too large for `AllPairs`. The candidates are chosen anew every `refresh` draws, from the codes of that
    moment; in between the structure stays, and all of them get a gradient.
    """

    def __init__(self, source: Source, *, partners: int, random: int, refresh: int, block: int = BLOCK) -> None:
        self._source, self._sizes, self._refresh, self._block = source, (partners, random), refresh, block
        self._draws = 0
        self._choose(source.known)

    def draw(self, codes: Tensor) -> Drawn:
        """Draw among the candidates."""
        source = self._source
        if self._draws % self._refresh == 0:
            self._choose(self._candidates(codes.detach()))
        self._draws += 1
        among = self._among
        with torch.set_grad_enabled(source.weighted and torch.is_grad_enabled()):
            scale = source.law.scale(codes, source.known)
            probability = source.law.probability(among.scores(codes), self._is_edge, scale)
            noise = source.uniform(among.pairs.shape[1]).to(probability.dtype)
            hard = noise < probability
            relaxed = slope_only(source.law.relaxed(probability, noise)) if source.weighted else None
        kept = among.on_columns(hard) if relaxed is None else among.on_columns(hard + relaxed)
        return Drawn(self._graph, View(kept), among.pairs, noise, int(hard.sum()))

    def state_dict(self) -> dict[str, Tensor]:
        """The candidates, and how long they have been used."""
        return {"candidates": self._keys, "draws": torch.tensor(self._draws)}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        self._draws = int(saved["draws"])
        self._choose(KnownPairs(self._source.known.num_nodes, saved["candidates"]))

    def _candidates(self, codes: Tensor) -> KnownPairs:
        partners, random = self._sizes
        likely = likeliest_of_each(codes, partners, block=self._block)
        pairs = torch.cat([self._source.known.index, likely, self._source.random_pairs(random)], 1)
        return KnownPairs.of(pairs, codes.shape[0])

    def _choose(self, candidates: KnownPairs) -> None:
        source, self._keys = self._source, candidates.keys
        self._among = PairGraph.of(candidates.index, candidates.num_nodes, source.loops)
        self._graph = self._among.graph(source.original)
        self._is_edge = source.known.contains(self._among.pairs)
