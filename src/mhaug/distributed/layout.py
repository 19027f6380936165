"""Who may move what, and when: layouts, so that every unit can be moved in exactly one of them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug.distributed.node_parts import islands, node_parts
from mhaug.distributed.reach import footprint, interior
from mhaug.sampling.subgraph import UnitGraph


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

    The first is the partition itself: each part moves the units that lie deep inside it. The second is a partition
    whose cuts keep away from those of the first. What is still left are islands around places where both cut;
    islands do not touch, and are dealt out to the parts.
    """
    first = Layout(parts, owner, interior(graph, owner, hops, part))
    layouts, left = [first], ~first.movable
    if bool(left.any()) and parts > 1:
        other = node_parts(graph, parts, avoid=footprint(graph, left, hops, part))
        found = interior(graph, other, hops, part)
        layouts.append(Layout(parts, other, torch.where(left, found, -1)))
        left &= found < 0
    if bool(left.any()):
        dealt = _deal(islands(graph, footprint(graph, left, hops, part)), parts)
        layouts.append(Layout(parts, dealt, torch.where(left, interior(graph, dealt, hops, part), -1)))
    return [layout for layout in layouts if layout is first or bool(layout.movable.any())]


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
