"""Edges and nodes dropped at fixed rates, afresh each time: DropEdge, DropNode, and both at once."""

from typing import Any

import torch
from torch import Tensor

from mhaug.augmentation.augmenter import Augmenter, Proposal
from mhaug.data.view import View, node_scale
from mhaug.per_replica import PerReplica, check_number, is_on
from mhaug.rng import SharedStream, Streams
from mhaug.sampling.moves.resample import uniform_subset
from mhaug.sampling.subgraph import Subgraph, UnitGraph


class RandomDrop(Augmenter):
    """Each proposal drops round(rate · M) units, a uniform subset of that size; it is always accepted.

    An undirected pair goes in both directions together. The previous view of the first proposal is the whole graph.
    With `replicas` each has a draw, and perhaps rates, of its own; nothing then waits for the device.
    """

    needs_entropy = False

    def __init__(
        self,
        data: Any,
        *,
        edge_rate: PerReplica = 0.0,
        node_rate: PerReplica = 0.0,
        seed: int = 0,
        replicas: int | None = None,
    ) -> None:
        check_number(edge_rate, "edge_rate", 0.0, 1.0)
        check_number(node_rate, "node_rate", 0.0, 1.0)
        device = data.edge_index.device
        self._graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
        self._replicas, rows = replicas, replicas or 1
        self._rates = (edge_rate, node_rate)
        self._units = (self._graph.num_units, self._graph.num_nodes)
        self._dropped = [
            (torch.as_tensor(rate, dtype=torch.float64, device=device) * units).round().long().expand(rows)
            for rate, units in zip(self._rates, self._units, strict=True)
        ]
        if replicas is None:
            self._rng: Streams | SharedStream = Streams(seed, "random drop", count=1, device=device)
        else:
            self._rng = SharedStream(replicas, device)
        self._subgraph = Subgraph(*(torch.ones(rows, u, dtype=torch.bool, device=device) for u in self._units))

    def propose(self, entropy: Tensor | None) -> Proposal:
        """A fresh draw."""
        previous = self._view()
        masks = (self._subgraph.edge_kept, self._subgraph.node_kept)
        for kept, rate, dropped in zip(masks, self._rates, self._dropped, strict=True):
            if is_on(rate):
                kept.copy_(uniform_subset(self._rng.uniform(kept.shape[1]), dropped))
        edge_rate, node_rate = self._rates
        return Proposal(previous, self._view(), True, {"edge_change": edge_rate, "node_change": node_rate})

    def state_dict(self) -> dict[str, Tensor]:
        """The last draw, and the stream."""
        subgraph = self._subgraph
        return {"edges": subgraph.edge_kept, "nodes": subgraph.node_kept, "rng": self._rng.state()}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        self._subgraph.edge_kept.copy_(saved["edges"])
        self._subgraph.node_kept.copy_(saved["nodes"])
        self._rng.restore(saved["rng"])

    def _view(self) -> View:
        """New tensors: the masks change in place."""
        edges, nodes = self._graph.column_kept(self._subgraph.edge_kept), node_scale(self._subgraph.node_kept)
        if self._replicas is None:
            edges, nodes = edges[0], nodes[0]
        edge_rate, node_rate = self._rates
        return View(edges if is_on(edge_rate) else None, nodes if is_on(node_rate) else None)
