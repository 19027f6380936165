"""Views along one chain for each replica, without a word to the host: the augmenter of MH-Aug on a GPU."""

from typing import Any

import torch
from torch import Tensor

from mhaug import checks
from mhaug.augmentation.augmenter import Proposal
from mhaug.data.view import View, node_scale
from mhaug.rng import SharedStream
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.torch_chain import TorchChain


class ReplicaChains:
    """`ChainDrop` for R chains at once, by the paper's move; each starts at the whole graph.

    All tensors stay where they are from step to step, so a step can be captured as one CUDA graph. Random numbers
    come from torch's global generator of the device.
    """

    needs_entropy = True

    def __init__(self, sampler: MHAug, data: Any, *, replicas: int, seed: int = 0) -> None:
        checks.require(sampler.moves == "resample", "moves", "'resample' for replicas", sampler.moves)
        self._graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
        self._chain = TorchChain(sampler.setup(self._graph, chains=replicas), seed=seed)
        self._rng = SharedStream(replicas, data.edge_index.device)
        whole = {part: torch.ones_like(state.kept) for part, state in self._chain.state.items()}
        self._chain.place(whole)
        self._fixed = self._chain.state  # these very tensors, for good

    def propose(self, entropy: Tensor | None) -> Proposal:
        """One step of every chain, under the target of its own ε [R, V]."""
        assert entropy is not None
        previous = self._view()
        uniforms = {part: self._rng.uniform(state.kept.shape[1] + 2) for part, state in self._fixed.items()}
        accepted = self._chain.resample(entropy.double(), uniforms)
        self._settle()
        moved = torch.stack(list(accepted.values())).any(0)
        return Proposal(previous, self._view(), moved, self._info())

    def state_dict(self) -> dict[str, Tensor]:
        """The masks; the generator is the run's."""
        return {part: state.kept for part, state in self._fixed.items()}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        self._chain.place({part: saved[part] for part in self._fixed})
        self._settle()

    def _settle(self) -> None:
        """Move the chains' new state into the tensors that stay."""
        for part, new in self._chain.state.items():
            fixed = self._fixed[part]
            for old, value in ((fixed.kept, new.kept), *zip(fixed.statistics, new.statistics, strict=True)):
                if old is not None and value is not None:
                    old.copy_(value)
        self._chain.state = self._fixed

    def _view(self) -> View:
        """New tensors: the masks change in place."""
        parts = self._fixed
        return View(
            self._graph.column_kept(parts["edges"].kept) if "edges" in parts else None,
            node_scale(parts["nodes"].kept) if "nodes" in parts else None,
        )

    def _info(self) -> dict[str, Tensor]:
        info = {}
        for part in self._fixed:
            change = self._chain.change(part)
            info[f"{part[:-1]}_change"], info[f"ego_{part[:-1]}_change"] = change.full, change.ego
        return info
