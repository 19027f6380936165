"""How far a change of one unit reaches, and from how far away a node's terms are fed. On the whole original graph.

Messages run from source to target. The change of a unit reaches its *footprint*: the nodes where Ã'^l m can change at
some level l. A node is fed by its *halo*: the nodes from which a message can come in so many hops.
"""

import torch
from torch import Tensor

from mhaug.sampling.subgraph import UnitGraph


def footprint(graph: UnitGraph, units: Tensor, hops: int, part: str) -> Tensor:
    """Nodes that the change of any of `units` (bool) can reach, bool [V]."""
    if part == "nodes":
        return _forward(graph, units.clone(), hops)
    _, target, unit = graph.messages
    start = torch.zeros(graph.num_nodes, dtype=torch.bool)
    start[target[units[unit]]] = True
    return _forward(graph, start, hops - 1)


def interior(graph: UnitGraph, owner: Tensor, hops: int, part: str) -> Tensor:
    """The part whose nodes hold the whole footprint of each unit, long [units]; -1 where no single one does.

    `owner` [V] is the part of each node; nodes of -1 belong to none.
    """
    source, target, unit = graph.messages
    within = owner.clone()
    for _ in range(hops - (part == "edges")):
        leaves = within[target] != owner[source]
        within = within.index_fill(0, source[leaves], -1)
    if part == "nodes":
        return within
    # a unit without columns cannot be; every column's target must say the same
    found = torch.full((graph.num_units,), -1, dtype=torch.long)
    found[unit] = within[target]
    differs = found[unit] != within[target]
    return found.index_fill(0, unit[differs | (within[target] < 0)], -1)


def halo(graph: UnitGraph, nodes: Tensor, hops: int) -> Tensor:
    """`nodes` and all from which a message reaches them in so many hops, bool [V]."""
    source, target, _ = graph.messages
    reached = nodes.clone()
    for _ in range(hops):
        reached = reached.index_fill(0, source[reached[target]], True)
    return reached


def _forward(graph: UnitGraph, nodes: Tensor, hops: int) -> Tensor:
    source, target, _ = graph.messages
    for _ in range(hops):
        nodes = nodes.index_fill(0, target[nodes[source]], True)
    return nodes
