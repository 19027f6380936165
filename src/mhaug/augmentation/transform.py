"""`MetropolisDrop`: the chain as a PyG transform."""

from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.transforms import BaseTransform

from mhaug import checks
from mhaug.augmentation.apply import apply_view, view_of
from mhaug.data.task import NodeTask
from mhaug.sampling.chain import Chain
from mhaug.sampling.sampler import MHAug


class MetropolisDrop(BaseTransform):  # type: ignore[misc]
    """Each call moves the chain on by `steps` and returns the graph where it then stands.

    The first call starts a chain at the whole graph and runs `warmup` steps; a call with another graph starts
    afresh on that one. Dropped edges leave `edge_index` and everything aligned with it; dropped nodes keep their
    place and edges, and have their features set to zero (the others are scaled up to keep the mean). The input is
    never changed.
    """

    def __init__(self, sampler: MHAug, *, seed: int = 0, steps: int = 1, warmup: int = 0) -> None:
        checks.require(isinstance(sampler, MHAug), "sampler", "an MHAug", type(sampler).__name__)
        checks.whole_number(steps, "steps", 1)
        checks.whole_number(warmup, "warmup", 0)
        self.sampler, self.seed, self.steps, self.warmup = sampler, seed, steps, warmup
        self._chain: Chain | None = None
        self._edge_index: Tensor | None = None

    def forward(self, data: Any) -> Any:
        """Move on, and hand out the view as an ordinary `Data`; that of a task's graph, for a task."""
        data = data.graph if isinstance(data, NodeTask) else data
        checks.require(isinstance(data, Data), "data", "a torch_geometric Data (homogeneous)", type(data).__name__)
        if self._chain is None or not self._same_graph(data):
            self._chain = self.sampler.chain(data, seed=self.seed)
            self._edge_index = data.edge_index.clone()
            for _ in self._chain.warm_up(self.warmup):
                pass
        for _ in range(self.steps):
            self._chain.step()
        return apply_view(data, view_of(self._chain.graph.unit_of_column, self._chain.subgraph, 0))

    def _same_graph(self, data: Data) -> bool:
        known, given = self._edge_index, data.edge_index
        same_nodes = self._chain is not None and self._chain.graph.num_nodes == data.num_nodes
        return known is not None and same_nodes and known.device == given.device and torch.equal(known, given)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sampler}, seed={self.seed}, steps={self.steps}, warmup={self.warmup})"
