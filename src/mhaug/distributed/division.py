"""A graph divided for a chain in parts: what the chain needs of it, and nothing more."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from mhaug.distributed.facts import Facts, TargetFacts
from mhaug.distributed.layout import Layout, cover
from mhaug.distributed.node_parts import node_parts
from mhaug.distributed.piece import Share, cut
from mhaug.distributed.reach import footprint
from mhaug.distributed.world import World
from mhaug.sampling.ego_change import messages_of_whole_graph
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.work import resample_work


class Division(Protocol):
    """Where the shares of parts come from; a chain asks for those of its rank, once, and keeps no division."""

    @property
    def facts(self) -> Facts:
        """What all ranks know."""
        ...

    def share(self, part: str, turn: int, number: int) -> Share:
        """What part `number` holds under layout `turn`; one of those in `facts`."""
        ...


class Cutting:
    """A division of a graph in memory: shares are cut from it as they are asked for."""

    def __init__(self, graph: UnitGraph, hops: int, layouts: Mapping[str, Sequence[Layout]]) -> None:
        self.graph, self.layouts = graph, layouts
        self._original = messages_of_whole_graph(graph, hops)
        self._owner = {part: self._owners(part, turns[0].owner) for part, turns in layouts.items()}
        parts = next(iter(layouts.values()))[0].parts
        targets = {part: self._target(part, turns, hops) for part, turns in layouts.items()}
        self.facts = Facts(graph.num_nodes, graph.num_units, graph.directed, hops, parts, targets)

    def share(self, part: str, turn: int, number: int) -> Share:
        """The pieces of the first layout hold every node of their parts, for log P as a whole."""
        layout, hops = self.layouts[part][turn], self.facts.hops
        movable = layout.mover == number
        own = footprint(self.graph, movable, hops, part) if turn else layout.owner == number
        piece = cut(self.graph, own, movable, hops, part)
        owned = np.empty(0, dtype=np.int64) if turn else (self._owner[part] == number).nonzero().squeeze(1).numpy()
        return Share(piece, self._original[torch.from_numpy(piece.nodes)].numpy(), owned)

    def _owners(self, part: str, owner: Tensor) -> Tensor:
        """The part that owns each unit: an edge belongs to that of its first end, so each has one owner."""
        return owner[self.graph.unit_edges[0]] if part == "edges" else owner

    def _target(self, part: str, turns: Sequence[Layout], hops: int) -> TargetFacts:
        owned = self._owner[part].bincount(minlength=turns[0].parts)
        # where parts are few nodes each, METIS leaves some without any
        present = [(turn.mover if place else turn.owner).unique() for place, turn in enumerate(turns)]
        return TargetFacts(
            resample_work=resample_work(self.graph, hops, part),
            owned=tuple(owned.tolist()),
            turns=tuple(tuple(numbers[numbers >= 0].tolist()) for numbers in present),
        )


def divided(
    graph: UnitGraph, *, parts: int, hops: int, targets: Iterable[str], world: World | None = None
) -> Cutting:
    """Divide a graph that every rank has in memory; all cut the same pieces from it.

    Rank 0 finds the layouts alone, which takes long where the graph is large; the others wait.
    """
    patient = (world or World.alone()).patient
    leads, nodes = patient.leads, graph.num_nodes
    owner = patient.from_first(node_parts(graph, parts) if leads else torch.zeros(nodes, dtype=torch.long))
    layouts = {}
    for part in targets:
        made = cover(graph, owner, parts, hops, part) if leads else []
        layouts[part] = _from_first(patient, made, parts, nodes)
    return Cutting(graph, hops, layouts)


def _from_first(world: World, made: list[Layout], parts: int, nodes: int) -> list[Layout]:
    """What rank 0 made: partitions are only sure to be the same everywhere if they are made once."""
    if world.size == 1:
        return made
    rows = torch.stack([torch.cat([each.owner, each.mover]) for each in made]) if made else torch.empty(0, 0)
    shape = world.from_first(torch.tensor(rows.shape))
    rows = world.from_first(rows.long() if made else torch.empty(*shape.tolist(), dtype=torch.long))
    return [Layout(parts, row[:nodes], row[nodes:]) for row in rows]
