"""Edges and nodes dropped at fixed rates, afresh each time: DropEdge, DropNode, and both at once."""

from typing import Any

import torch
from torch import Tensor

from mhaug import checks
from mhaug.augmentation.apply import view_of
from mhaug.augmentation.augmenter import Proposal
from mhaug.data.view import View
from mhaug.rng import Streams
from mhaug.sampling.moves.resample import uniform_subset
from mhaug.sampling.subgraph import Subgraph, UnitGraph


class RandomDrop:
    """Each proposal drops round(rate · M) units, a uniform subset of that size; it is always accepted.

    An undirected pair goes in both directions together. The previous view of the first proposal is the whole graph.
    """

    needs_entropy = False

    def __init__(self, data: Any, *, edge_rate: float = 0.0, node_rate: float = 0.0, seed: int = 0) -> None:
        checks.number_in(edge_rate, "edge_rate", 0.0, 1.0)
        checks.number_in(node_rate, "node_rate", 0.0, 1.0)
        self._graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
        self._rates = (edge_rate, node_rate)
        self._rng = Streams(seed, "random drop", count=1, device=data.edge_index.device)
        self._subgraph = Subgraph(*(self._kept(units, 0.0) for units in self._units()))

    def propose(self, entropy: Tensor | None) -> Proposal:
        """A fresh draw."""
        previous = self._view()
        self._subgraph = Subgraph(
            *(self._kept(units, rate) for units, rate in zip(self._units(), self._rates, strict=True))
        )
        edge_rate, node_rate = self._rates
        return Proposal(previous, self._view(), True, {"edge_change": edge_rate, "node_change": node_rate})

    def state_dict(self) -> dict[str, Tensor]:
        """The last draw, and the stream."""
        subgraph = self._subgraph
        return {"edges": subgraph.edge_kept, "nodes": subgraph.node_kept, "rng": self._rng.state()}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        self._subgraph = Subgraph(saved["edges"], saved["nodes"])
        self._rng.restore(saved["rng"])

    def _units(self) -> tuple[int, int]:
        return self._graph.num_units, self._graph.num_nodes

    def _kept(self, units: int, rate: float) -> Tensor:
        dropped = round(rate * units)
        if dropped == 0:
            return torch.ones(1, units, dtype=torch.bool, device=self._graph.unit_edges.device)
        keys = self._rng.uniform(units)
        return uniform_subset(keys, torch.tensor([dropped], device=keys.device))

    def _view(self) -> View:
        return view_of(self._graph, self._subgraph, 0)
