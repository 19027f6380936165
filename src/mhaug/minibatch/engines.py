"""Who samples neighbours: PyG's compiled sampler where it can run, else the one in plain torch. One law, two ways."""

from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from mhaug.minibatch.batch import Batch
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.minibatch.neighbours import NeighbourSampler


class Sampler(Protocol):
    """Seeds in, their batch out."""

    def sample(self, seeds: Tensor, *, generator: torch.Generator | None = None) -> Batch: ...


def new_sampler(graph: LargeGraph, fan_outs: Sequence[int], *, replace: bool) -> Sampler:
    """pyg-lib's sampler where it can be loaded and the graph is on the CPU: the same law, other numbers."""
    # PyG has tried: a pyg-lib that was built for another torch is installed, but cannot be loaded
    from torch_geometric import typing

    if typing.WITH_PYG_LIB and graph.edges.device.type == "cpu":
        return PyGSampler(graph.edge_index, graph.num_nodes, fan_outs, replace=replace)
    return NeighbourSampler(graph.edges, fan_outs, replace=replace)


class PyGSampler:
    """PyG's own neighbour sampler (it needs pyg-lib or torch-sparse), with a generator and with our `Batch`."""

    def __init__(self, edge_index: Tensor, num_nodes: int, fan_outs: Sequence[int], *, replace: bool = False) -> None:
        from torch_geometric.data import Data
        from torch_geometric.sampler import NeighborSampler

        graph = Data(edge_index=edge_index, num_nodes=num_nodes)
        self._sampler: Any = NeighborSampler(graph, list(fan_outs), replace=replace)

    def sample(self, seeds: Tensor, *, generator: torch.Generator | None = None) -> Batch:
        """As `NeighbourSampler.sample`. It draws from torch's global generator, which is left as it was found."""
        from torch_geometric.sampler import NodeSamplerInput

        with torch.random.fork_rng(devices=[], enabled=generator is not None):
            if generator is not None:
                torch.manual_seed(int(torch.randint(2**62, (), generator=generator)))
            out = self._sampler.sample_from_nodes(NodeSamplerInput(None, seeds))
        by_target = torch.argsort(out.col, stable=True)
        columns, order = out.edge[by_target], self._sampler.edge_permutation
        edge_index = torch.stack([out.row, out.col])[:, by_target]
        return Batch(out.node, edge_index, columns if order is None else order[columns], len(seeds))
