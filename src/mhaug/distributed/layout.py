"""Who may move what, and when: layouts, so that every unit can be moved in exactly one of them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug.distributed.node_parts import islands, node_parts
from mhaug.distributed.reach import footprint, interior
from mhaug.sampling.subgraph import UnitGraph

MOST = 6  # partitions; each costs a synchronisation a round
HELPS = 0.2  # of the units left, so many must get their turn, or a further partition is not worth it


@dataclass(frozen=True, eq=False)
class Layout:
    """One way to divide the work. Footprints of units that different parts move never meet.

    `owner` is the part of each node, `mover` the part that moves each unit (-1: the unit stands still meanwhile).
    """

    parts: int
    owner: Tensor  # long [V]; -1: no part
    mover: Tensor  # long [units]; -1: no part

    @property
    def movable(self) -> Tensor:
        """Units that some part moves, bool."""
        return self.mover >= 0


def cover(graph: UnitGraph, owner: Tensor, parts: int, hops: int, part: str) -> list[Layout]:
    """Layouts in which every unit has exactly one turn.

    The first is the partition itself: each part moves the units that lie deep inside it. Then come partitions whose
    cuts keep away from the units that had no turn yet, as long as each helps. What is still left are islands around
    places where all of them cut; islands do not touch, and are dealt out to the parts.
    """
    layouts = [Layout(parts, owner, interior(graph, owner, hops, part))]
    left, found = ~layouts[0].movable, True
    while found and bool(left.any()) and parts > 1 and len(layouts) < MOST:
        other = node_parts(graph, parts, avoid=footprint(graph, left, hops, part))
        layout = Layout(parts, other, torch.where(left, interior(graph, other, hops, part), -1))
        found = int(layout.movable.sum()) >= HELPS * int(left.sum())
        if found:
            layouts.append(layout)
            left &= ~layout.movable
    if bool(left.any()):
        dealt = _deal(islands(graph, footprint(graph, left, hops, part)), parts)
        layouts.append(Layout(parts, dealt, torch.where(left, interior(graph, dealt, hops, part), -1)))
    return layouts


def _deal(numbers: Tensor, parts: int) -> Tensor:
    """Islands to parts, the largest first to the part that has least."""
    inside = numbers >= 0
    names, sizes = numbers[inside].unique(return_counts=True)
    share, part_of = [0] * parts, torch.full((int(numbers.max()) + 1,), -1)
    for place in sizes.argsort(descending=True, stable=True).tolist():
        least = share.index(min(share))
        part_of[names[place]] = least
        share[least] += int(sizes[place])
    return torch.where(inside, part_of[numbers.clamp(min=0)], -1)
