"""What graphs are drawn from, and what a drawn graph is.

`all_pairs.py` and `proposed_pairs.py` find the pairs that are drawn, `pair_sampler.py` makes a graph of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from mhaug.backbones.graph_input import GraphInput
from mhaug.data.view import View
from mhaug.methods.parts.edge_law import EdgeLaw, Scale
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.sampling.subgraph import is_symmetric

Uniform = Callable[[int], Tensor]  # so many numbers in [0, 1)


@dataclass(frozen=True, eq=False)
class Drawn:
    """A graph and a view of it; and the pairs [2, P] that were looked at, with the noise that decided them."""

    graph: GraphInput
    view: View
    pairs: Tensor
    noise: Tensor
    edges: int  # pairs drawn


@dataclass(frozen=True, eq=False)
class Source:
    """What edges are drawn from: the original graph, its pairs, the law, and whether the backbone takes weights."""

    original: GraphInput
    known: KnownPairs
    law: EdgeLaw
    weighted: bool  # else hard edges, and no gradient to the codes
    uniform: Uniform

    @property
    def loops(self) -> Tensor:
        """Self-loops of the original, which every draw keeps."""
        edge_index = self.original.edge_index
        return edge_index[:, edge_index[0] == edge_index[1]]

    @cached_property
    def _columns(self) -> Tensor | None:
        """u·V + v of each column, sorted; None where each pair has one column in each direction."""
        source, target = self.original.edge_index
        keys = (source * self.original.num_nodes + target)[source != target].sort().values
        both_ways = is_symmetric(self.original.edge_index, self.original.num_nodes)
        simple = both_ways and keys.shape[0] == 2 * self.known.count
        return None if simple else keys

    def times(self, pairs: Tensor) -> Tensor | None:
        """How many columns each pair has from its first node to its second, and back, [2, P]; None: one each.

        Known edges of a directed graph, or of one with repeats, are drawn as they are; new ones are one each.
        """
        if self._columns is None:
            return None
        nodes = self.original.num_nodes
        keys = torch.stack([pairs[0] * nodes + pairs[1], pairs[1] * nodes + pairs[0]])
        found = torch.searchsorted(self._columns, keys, right=True) - torch.searchsorted(self._columns, keys)
        return found + (found.sum(0) == 0)

    def random_pairs(self, count: int) -> Tensor:
        """So many pairs of different nodes, evenly and with repeats, [2, count]."""
        nodes = self.original.num_nodes
        draws = self.uniform(2 * count).view(2, count)
        first = (draws[0] * nodes).long()
        return torch.stack([first, (first + 1 + (draws[1] * (nodes - 1)).long()) % nodes])


class Find(Protocol):
    """A way to find the pairs that are drawn."""

    def __call__(self, codes: Tensor, scale: Scale) -> tuple[Tensor, Tensor]:
        """The pairs drawn, [2, P], each once, and the noise of each: even on [0, P_uv)."""
        ...
