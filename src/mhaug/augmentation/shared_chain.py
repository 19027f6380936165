"""Views along one chain that all ranks of a job move together."""

from typing import Any

from mhaug import checks
from mhaug.augmentation.chain_drop import ChainDrop
from mhaug.distributed.partitioned import chain_on
from mhaug.distributed.world import World
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.subgraph import UnitGraph


class SharedChainDrop(ChainDrop):
    """See `ChainDrop`; the chain is one in parts, and all ranks see the same views.

    All ranks call the same methods in the same order, with the same entropy. The chain is on the CPU, wherever the
    graph is.
    """

    def __init__(self, sampler: MHAug, data: Any, *, parts: int, seed: int = 0, world: World | None = None) -> None:
        checks.whole_number(int(data.num_nodes or 0), "data.num_nodes", 1)
        graph = UnitGraph.from_edge_index(data.edge_index.cpu(), data.num_nodes)
        chain = chain_on(sampler, graph, parts=parts, seed=seed, world=world)
        # of the graph only this is kept
        self._begin(chain, graph.unit_of_column.to(data.edge_index.device))
