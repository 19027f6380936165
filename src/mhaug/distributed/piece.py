"""A piece: what one rank must hold so that the terms of some nodes are exact, and nothing more."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mhaug.distributed.reach import halo
from mhaug.sampling.subgraph import UnitGraph


@dataclass(frozen=True, eq=False)
class Numbering:
    """Which nodes and units of the whole graph a piece has. Units that it moves have the first numbers."""

    nodes: np.ndarray  # number in the whole graph of each node of the piece
    own: np.ndarray  # bool: the nodes whose terms are exact here; the rest is halo
    units: np.ndarray  # number in the whole graph of each unit of the piece (of edges or of nodes)
    movable: int  # the first so many units are moved here


@dataclass(frozen=True, eq=False)
class Piece(Numbering):
    """Some nodes and the halo that feeds them in `hops` hops, renumbered.

    Ã'^l m is right on the own nodes at every level l, whatever happens outside.
    """

    graph: UnitGraph  # of the piece

    @property
    def numbering(self) -> Numbering:
        """Without the graph."""
        return Numbering(self.nodes, self.own, self.units, self.movable)


@dataclass(frozen=True, eq=False)
class Share:
    """What one part holds under one layout: a piece, and what only the whole graph could tell of it."""

    piece: Piece
    original: np.ndarray  # messages that each node of the piece receives in the whole graph
    owned: np.ndarray  # under the first layout: numbers of the units that this part owns; else none


def cut(graph: UnitGraph, own: Tensor, movable: Tensor, hops: int, part: str) -> Piece:
    """The piece for the nodes `own` (bool [V]) that moves the units `movable` (bool)."""
    source, target, unit = graph.messages
    # whole units: a column too many at the rim only changes nodes that nobody reads
    held = torch.zeros(graph.num_units, dtype=torch.bool)
    held[unit[halo(graph, own, hops - 1)[target]]] = True
    columns = held[unit]
    present = own.clone()
    present[source[columns]] = True
    present[target[columns]] = True
    of_edges = part == "edges"
    nodes = _first(present, torch.zeros_like(present) if of_edges else movable)
    units = _first(held, movable if of_edges else torch.zeros_like(held))
    node_number, unit_number = (_numbers(list_, len(mask)) for list_, mask in ((nodes, present), (units, held)))
    messages = torch.stack([node_number[source[columns]], node_number[target[columns]], unit_number[unit[columns]]])
    local = local_graph(len(nodes), graph.directed, node_number[graph.unit_edges[:, units]], messages)
    moved = units if of_edges else nodes
    return Piece(nodes.numpy(), own[nodes].numpy(), moved.numpy(), int(movable.sum()), local)


def local_graph(nodes: int, directed: bool, unit_edges: Tensor, messages: Tensor) -> UnitGraph:
    """The graph of a piece; columns of `edge_index` are nothing to it."""
    return UnitGraph(nodes, directed, unit_edges, torch.empty(0, dtype=torch.long), messages)


def _first(present: Tensor, first: Tensor) -> Tensor:
    """The numbers of the present ones, those of `first` before the rest."""
    return torch.cat([first.nonzero().squeeze(1), (present & ~first).nonzero().squeeze(1)])


def _numbers(list_: Tensor, size: int) -> Tensor:
    """Number in the whole -> number in the piece."""
    numbers = torch.full((size,), -1, dtype=torch.long)
    numbers[list_] = torch.arange(len(list_))
    return numbers
