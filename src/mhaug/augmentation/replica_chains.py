"""Views along one chain for each replica, without a word to the host: the augmenter of MH-Aug on a GPU."""

from typing import Any

import torch
from torch import Tensor

from mhaug import checks
from mhaug.aside import Aside
from mhaug.augmentation.augmenter import Augmenter, Proposal
from mhaug.data.view import View, node_scale
from mhaug.rng import SharedStream
from mhaug.sampling.metropolis import PartState, accept_jointly
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.subgraph import UnitGraph, change_ratio
from mhaug.sampling.tabled import Draft, TabledKernel


class ReplicaChains(Augmenter):
    """`ChainDrop` for R chains at once, by the paper's move; each starts at the whole graph.

    All tensors stay where they are from step to step, so a step can be captured as one CUDA graph. Random numbers
    come from torch's global generator of the device.
    """

    needs_entropy = True

    def __init__(self, sampler: MHAug, data: Any, *, replicas: int) -> None:
        checks.require(sampler.moves == "resample", "moves", "'resample' for replicas", sampler.moves)
        self._graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
        setup = sampler.setup(self._graph, chains=replicas)
        self._joint = setup.joint
        self._kernels = {part: TabledKernel(target, setup.step_sizes[part]) for part, target in setup.targets.items()}
        self._asides = {part: Aside(data.edge_index.device) for part in setup.targets}
        self._drafts: dict[str, Draft] = {}
        self._rng = SharedStream(replicas, data.edge_index.device)
        sizes = {part: (replicas, target.units) for part, target in setup.targets.items()}
        whole = {part: self._graph.unit_edges.new_ones(size).bool() for part, size in sizes.items()}
        self._state = {part: kernel.init(whole[part]) for part, kernel in self._kernels.items()}

    def prepare(self) -> None:
        """Draft the candidates, each part beside the other and beside the network's pass."""
        for part, kernel in self._kernels.items():
            with self._asides[part].work():
                uniforms = self._rng.uniform(self._state[part].kept.shape[1] + 2)
                self._drafts[part] = kernel.draft(self._state[part], uniforms)

    def propose(self, entropy: Tensor | None) -> Proposal:
        """One step of every chain, under the target of its own ε [R, V]."""
        assert entropy is not None
        entropy, previous, drafts = entropy.double(), self._view(), self._drafts
        for aside in self._asides.values():
            aside.join()
        steps = {
            part: kernel.decide(self._state[part], drafts[part], entropy) for part, kernel in self._kernels.items()
        }
        if self._joint:
            steps = accept_jointly(steps, next(iter(drafts.values())).log_uniform)
        for part, step in steps.items():
            self._settle(part, step.current)
        moved = torch.stack([step.accepted for step in steps.values()]).any(0)
        return Proposal(previous, self._view(), moved, self._info())

    def state_dict(self) -> dict[str, Tensor]:
        """The masks; the generator is the run's."""
        return {part: state.kept for part, state in self._state.items()}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        for part, kernel in self._kernels.items():
            self._settle(part, kernel.init(saved[part]))

    def _settle(self, part: str, new: PartState) -> None:
        """Move a new state into the tensors that stay."""
        fixed = self._state[part]
        for old, value in ((fixed.kept, new.kept), *zip(fixed.statistics, new.statistics, strict=True)):
            if old is not None and value is not None:
                old.copy_(value)

    def _view(self) -> View:
        """New tensors: the masks change in place."""
        parts = self._state
        return View(
            self._graph.column_kept(parts["edges"].kept) if "edges" in parts else None,
            node_scale(parts["nodes"].kept) if "nodes" in parts else None,
        )

    def _info(self) -> dict[str, Tensor]:
        info = {}
        for part, state in self._state.items():
            info[f"{part[:-1]}_change"] = change_ratio(state.kept)
            info[f"ego_{part[:-1]}_change"] = state.statistics.ego_change.mean(-1)
        return info
