"""`partitioned_chain`: a sampler and a graph -> a chain in parts, the same on every rank."""

from typing import Any

import torch

from mhaug import checks
from mhaug.distributed.chain import PartitionedChain
from mhaug.distributed.layout import Layout, cover
from mhaug.distributed.node_parts import node_parts
from mhaug.distributed.world import World
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.subgraph import UnitGraph


def partitioned_chain(
    sampler: MHAug, data: Any, *, parts: int, seed: int = 0, world: World | None = None
) -> PartitionedChain:
    """A chain on the graph of `data`, in so many parts, dealt out to the ranks of `world`.

    The number of parts decides the chain; the number of ranks only its speed.
    """
    world = world or World.alone()
    checks.whole_number(int(data.num_nodes or 0), "data.num_nodes", 1)
    rule = "on the CPU for a chain in parts"
    checks.require(data.edge_index.device.type == "cpu", "data", rule, str(data.edge_index.device))
    graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
    setup = sampler.setup(graph)
    # rank 0 divides the graph alone, which takes long where it is large
    owner = world.patient.from_first(
        node_parts(graph, parts) if world.leads else torch.zeros(graph.num_nodes, dtype=torch.long)
    )
    layouts = {}
    for part in setup.targets:
        made = cover(graph, owner, parts, setup.hops, part) if world.leads else []
        layouts[part] = _from_first(world.patient, made, parts, graph.num_nodes)
    return PartitionedChain(setup, layouts, seed=seed, world=world)


def _from_first(world: World, made: list[Layout], parts: int, nodes: int) -> list[Layout]:
    """What rank 0 made: partitions are only sure to be the same everywhere if they are made once."""
    if world.size == 1:
        return made
    rows = torch.stack([torch.cat([each.owner, each.mover]) for each in made]) if made else torch.empty(0, 0)
    shape = world.from_first(torch.tensor(rows.shape))
    rows = world.from_first(rows.long() if made else torch.empty(*shape.tolist(), dtype=torch.long))
    return [Layout(parts, row[:nodes], row[nodes:]) for row in rows]
