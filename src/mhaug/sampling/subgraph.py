"""What one edge is, and what a subgraph is: the state of the chain."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug import checks


@dataclass(frozen=True)
class UnitGraph:
    """A graph as the units that are dropped whole.

    Undirected: a unit is a pair {u, v}, and all columns of `edge_index` that join u and v go together. Directed: a
    unit is one column. Self-loops belong to no unit and are never dropped.
    """

    num_nodes: int
    directed: bool
    unit_edges: Tensor  # long [2, M]; undirected pairs have the smaller node first, and are sorted
    unit_of_column: Tensor  # long [E]; M for a self-loop
    messages: Tensor  # long [3, L]: source, target and unit of each column that is not a self-loop

    @property
    def num_units(self) -> int:
        """M."""
        return int(self.unit_edges.shape[1])

    @classmethod
    def from_edge_index(cls, edge_index: Tensor, num_nodes: int, *, directed: bool | None = None) -> "UnitGraph":
        """Find the units. `directed=None` asks the edges: undirected if each has one that runs the other way.

        Node numbers may be of any kind of whole number; here they become long ones, as pairs are numbered too.
        """
        checks.edge_index(edge_index, "edge_index", num_nodes)
        edge_index = edge_index.long()
        source, target = edge_index
        loop = source == target
        if directed is None:
            directed = not is_symmetric(edge_index[:, ~loop], num_nodes)
        if directed:
            unit_edges = edge_index[:, ~loop]
            unit_of_other = torch.arange(unit_edges.shape[1], device=edge_index.device)
        else:
            # in place, and nothing else is held: this is where the memory of a large graph has its peak
            pairs = torch.minimum(source, target)[~loop].mul_(num_nodes).add_(torch.maximum(source, target)[~loop])
            keys, unit_of_other = pairs.unique(return_inverse=True)
            del pairs
            unit_edges = torch.stack([keys // num_nodes, keys % num_nodes])
        unit_of_column = torch.full_like(source, unit_edges.shape[1])
        unit_of_column[~loop] = unit_of_other
        messages = torch.stack([source, target, unit_of_column])[:, ~loop]
        return cls(num_nodes, directed, unit_edges, unit_of_column, messages)

    def column_kept(self, edge_kept: Tensor) -> Tensor:
        """Units kept [..., M] -> columns of `edge_index` kept [..., E]."""
        return column_kept(self.unit_of_column, edge_kept)


def column_kept(unit_of_column: Tensor, edge_kept: Tensor) -> Tensor:
    """Units kept [..., M] -> columns of `edge_index` kept [..., E], on the device of `unit_of_column` [E]."""
    always = edge_kept.new_ones((*edge_kept.shape[:-1], 1))
    return torch.cat([edge_kept, always], -1).to(unit_of_column.device)[..., unit_of_column]


def is_symmetric(edge_index: Tensor, num_nodes: int) -> bool:
    """Whether for each edge there is one that runs the other way (repeats are not counted)."""
    source, target = edge_index
    forward, backward = (source * num_nodes + target).unique(), (target * num_nodes + source).unique()
    return bool(forward.shape == backward.shape and (forward == backward).all())


@dataclass(frozen=True)
class Subgraph:
    """Which units and which nodes are kept; leading axes, if any, are chains."""

    edge_kept: Tensor  # bool [..., M]
    node_kept: Tensor  # bool [..., V]

    @property
    def edge_change(self) -> Tensor:
        """ΔG'_E: the share of units that are dropped; 0 in a graph without edges."""
        return change_ratio(self.edge_kept)

    @property
    def node_change(self) -> Tensor:
        """ΔG'_V: the share of nodes that are dropped."""
        return change_ratio(self.node_kept)


def change_ratio(kept: Tensor) -> Tensor:
    """1 - kept / all, in double precision; 0 where there is nothing to drop."""
    return (~kept).sum(-1).double() / max(kept.shape[-1], 1)
