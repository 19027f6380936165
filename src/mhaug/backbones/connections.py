"""Who sends to whom: a fixed structure, and how a kept-mask over the edges becomes a weight on each entry."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug.backbones.structure import Structure, arrange


@dataclass(frozen=True, eq=False)
class Connections:
    """A structure with row = target and column = source, and for each entry the slot that its weight comes from.

    Slot e < E is column e of `edge_index`; slot E is always 1 and slot E + 1 always 0.
    """

    structure: Structure
    slots: Tensor

    def weights(self, kept: Tensor) -> Tensor:
        """The weight of each entry [entries, ...], from one value (bool or float) for each column [..., E]."""
        ends = (*kept.shape[:-1], 1)
        extended = torch.cat([kept, kept.new_ones(ends), kept.new_zeros(ends)], -1)
        return extended.movedim(-1, 0).index_select(0, self.slots)

    def to(self, device: torch.device | str) -> "Connections":
        """The same connections on another device."""
        return Connections(self.structure.to(device), self.slots.to(device))


@dataclass(frozen=True, eq=False)
class BothKinds:
    """The two ways in which layers read one structure. They differ in self-loops alone.

    - `with_self` (GCN, GAT): one self-connection of weight 1 a node; self-loops of the input, single or repeated,
      are absorbed by it. This is PyG's `add_remaining_self_loops` and its remove-then-add.
    - `neighbours` (SAGE): the edges as they came, self-loops among them, and no self-connection.
    """

    with_self: Connections
    neighbours: Connections

    def to(self, device: torch.device | str) -> "BothKinds":
        """The same connections on another device; the structure is moved once and stays shared."""
        with_self = self.with_self.to(device)
        slots = self.neighbours.slots.to(device)
        return BothKinds(with_self, Connections(with_self.structure, slots))


def connect(edge_index: Tensor, num_nodes: int, num_rows: int | None = None) -> BothKinds:
    """The connections of a graph: one entry for each column of `edge_index`, and one self-connection a node.

    With `num_rows` of the first nodes alone, which all columns must arrive at: the others only send.
    """
    num_edges, num_rows = edge_index.shape[1], num_nodes if num_rows is None else num_rows
    nodes = torch.arange(num_rows, device=edge_index.device)
    sources, targets = torch.cat([edge_index[0], nodes]), torch.cat([edge_index[1], nodes])
    structure, entry = arrange(targets, sources, (num_rows, num_nodes))
    is_connection = entry >= num_edges
    is_loop = (structure.rows == structure.columns) & ~is_connection
    one, zero = num_edges, num_edges + 1
    with_self = entry.masked_fill(is_connection, one).masked_fill(is_loop, zero)
    neighbours = entry.masked_fill(is_connection, zero)
    return BothKinds(Connections(structure, with_self), Connections(structure, neighbours))
