"""A graph from which batches are cut, and what a batch of it and of a view of it is to a network."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from mhaug import checks
from mhaug.backbones.connections import connect
from mhaug.backbones.features import Features
from mhaug.backbones.graph_input import GraphInput
from mhaug.data.view import View
from mhaug.minibatch.batch import Batch
from mhaug.minibatch.feature_rows import Stored, rows_of, stored
from mhaug.minibatch.in_edges import InEdges

_CHUNK = 2**24  # columns that are counted at a time: a whole mask as numbers would be as large as the graph


@dataclass(frozen=True, eq=False)
class LargeGraph:
    """The whole graph: never passed through a network as one, and never copied."""

    x: Stored
    edge_index: Tensor
    edges: InEdges = field(repr=False)
    edge_weight: Tensor | None = None
    edge_attr: Tensor | None = None
    whole: View = field(default_factory=View, repr=False)  # the original graph, as a view of it

    @classmethod
    def of(cls, data: Any, *, device: torch.device | str | None = None) -> "LargeGraph":
        """From any object with `x` (a tensor or `MemoryMapped`) and `edge_index`; on their device where None."""
        x = stored(getattr(data, "x", None))
        edge_index = getattr(data, "edge_index", None)
        checks.edge_index(edge_index, "edge_index", x.shape[0])
        assert isinstance(edge_index, Tensor)
        found = {name: getattr(data, name, None) for name in ("edge_weight", "edge_attr")}
        extras: dict[str, Any] = {name: None if value is None else value.to(device) for name, value in found.items()}
        edge_index = edge_index.to(device).long()
        return cls(x.to(device), edge_index, InEdges.of(edge_index, x.shape[0]), **extras)

    @property
    def num_nodes(self) -> int:
        return self.edges.num_nodes

    @property
    def num_features(self) -> int:
        return int(self.x.shape[1])

    def rows(self, nodes: Tensor) -> Features:
        """The features of these nodes."""
        return rows_of(self.x, nodes)

    def graph_input(self, batch: Batch, features: Features, *, first_rows: bool = False) -> GraphInput:
        """A batch as the backbones read it. With `first_rows` a layer mixes only for what the next one needs."""
        extras = {name: getattr(self, name) for name in ("edge_weight", "edge_attr")}
        mine: dict[str, Any] = {name: None if value is None else value[batch.e_id] for name, value in extras.items()}
        inner = _inner(batch, features.dtype, len(batch.num_sampled_edges) - 1, first_rows)
        rows = inner.num_nodes if inner is not None else batch.batch_size
        connections = connect(batch.edge_index, batch.num_nodes, rows if first_rows and batch.by_hop else None)
        return GraphInput(features, batch.edge_index, connections, **mine, inner=inner)

    def cut(self, view: View, batch: Batch, *, received: bool) -> View:
        """What a batch shows of a view of the whole graph; with `received` also what its nodes receive there."""
        edges, nodes = view.edge_kept, view.node_scale
        return View(
            edge_kept=None if edges is None else edges.index_select(0, batch.e_id),
            node_scale=None if nodes is None else nodes.index_select(0, batch.n_id),
            received=self.received(view).index_select(0, batch.n_id) if received else None,
        )

    def received(self, view: View) -> Tensor:
        """Kept messages that arrive at each node, self-loops left out, [V]; counted once for a view."""
        key = ("received", self.edges)
        if key not in view.memory:
            counts = torch.zeros(self.num_nodes, dtype=torch.float64, device=self.edge_index.device)
            for start in range(0, self.edge_index.shape[1], _CHUNK):
                source, target = self.edge_index[:, start : start + _CHUNK]
                counted = source != target
                if view.edge_kept is not None:
                    counted &= view.edge_kept[start : start + _CHUNK]
                counts += torch.bincount(target, weights=counted.float(), minlength=self.num_nodes)
            view.memory[key] = counts.to(torch.get_default_dtype())
        found: Tensor = view.memory[key]
        return found


def _inner(batch: Batch, dtype: torch.dtype, hops: int, first_rows: bool) -> GraphInput | None:
    """What the layers after the first need: each looks one hop less far. None after the last of them."""
    if hops < 1:
        return None
    nodes, columns = sum(batch.num_sampled_nodes[: hops + 1]), sum(batch.num_sampled_edges[:hops])
    edge_index, inner = batch.edge_index[:, :columns], _inner(batch, dtype, hops - 1, first_rows)
    rows = inner.num_nodes if inner is not None else batch.batch_size
    connections = connect(edge_index, nodes, rows if first_rows else None)
    # rows of these layers come from the layer before
    return GraphInput(
        torch.empty(nodes, 0, dtype=dtype, device=edge_index.device), edge_index, connections, inner=inner
    )
