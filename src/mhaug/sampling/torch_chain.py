"""The chains on tensors: any device, all chains at once for the paper's move, one at a time for local ones.

Every proposal is weighed from scratch, so this is the reference that the compiled backend is held to. On a GPU it is
also the fast way to run the paper's move.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

from mhaug.sampling.chain import Chain, Change, StepReport
from mhaug.sampling.entropy import check_each
from mhaug.sampling.metropolis import PartKernel, accept_jointly
from mhaug.sampling.moves.mixture import KINDS, elementary_moves
from mhaug.sampling.setup import Setup
from mhaug.sampling.starts import spread_starts
from mhaug.sampling.subgraph import change_ratio


class TorchChain(Chain):
    """See `Chain`."""

    def __init__(self, setup: Setup, *, seed: int) -> None:
        super().__init__(setup, seed=seed)
        self.kernels = {
            part: [PartKernel(target, move) for move in elementary_moves(setup.step_sizes[part])]
            for part, target in setup.targets.items()
        }
        device = setup.graph.unit_edges.device
        self._no_entropy = torch.zeros(setup.graph.num_nodes, dtype=torch.float64, device=device)
        self.place(spread_starts(setup, seed=seed))

    def step(self, entropy: Tensor | None = None, *, rounds: int = 1) -> StepReport:
        """All chains at once where each proposes once, else chain by chain."""
        entropy = self._entropy(entropy)
        tally = {part: np.zeros((self.setup.chains, 3, 2), dtype=np.int64) for part in self.state}
        for _ in range(rounds):
            if self.setup.moves == "resample":
                self._resample(entropy, tally)
                continue
            for part in self.state:
                chains = range(self.setup.chains)
                kept = torch.cat([self._round(part, chain, entropy, tally[part][chain]) for chain in chains])
                self.state[part] = self.kernels[part][0].init(kept)
        return StepReport(tally, self.setup)

    def kept(self, part: str) -> Tensor:
        """A copy of the masks."""
        return self.state[part].kept.clone()

    def change(self, part: str) -> Change:
        """From the statistics at hand."""
        ego = self.state[part].statistics.ego_change
        return Change(change_ratio(self.state[part].kept), ego.mean(-1), ego.std(-1, correction=0))

    def log_prob(self, entropy: Tensor | None = None) -> Tensor:
        """From the statistics at hand."""
        entropy = self._entropy(entropy)
        parts = self.setup.targets.items()
        return torch.stack([target.log_prob(self.state[part].statistics, entropy) for part, target in parts]).sum(0)

    def place(self, kept: Mapping[str, Tensor]) -> None:
        """Statistics from scratch."""
        self.state = {part: self.kernels[part][0].init(kept[part]) for part in self.setup.targets}

    def _resample(self, entropy: Tensor, tally: dict[str, np.ndarray]) -> None:
        uniforms = {part: self._rng[part].uniform(state.kept.shape[1] + 2) for part, state in self.state.items()}
        steps = {
            part: self.kernels[part][0].step(state, entropy, uniforms[part]) for part, state in self.state.items()
        }
        if self.setup.joint:
            # one decision for both: by the last number of the first part
            steps = accept_jointly(steps, next(iter(uniforms.values()))[:, -1].log())
        self.state = {part: step.current for part, step in steps.items()}
        for part, step in steps.items():
            tally[part][:, 0, 0] += 1
            tally[part][:, 0, 1] += step.accepted.cpu().numpy()

    def _round(self, part: str, chain: int, entropy: Tensor, tally: np.ndarray) -> Tensor:
        """The elementary moves of one chain, one after another."""
        state = self.kernels[part][0].init(self.state[part].kept[chain : chain + 1])
        mine = entropy if entropy.dim() == 1 else entropy[chain : chain + 1]
        for kind, numbers in self._moves(part, chain):
            uniforms = torch.from_numpy(numbers).to(mine.device).unsqueeze(0)
            transition = self.kernels[part][kind].step(state, mine, uniforms)
            # a swap of two equal units proposes to stay, and is not counted as accepted
            still = KINDS[kind] == "swap" and torch.equal(transition.candidate.kept, state.kept)
            tally[kind] += (1, bool(transition.accepted) and not still)
            state = transition.current
        return state.kept

    def _moves(self, part: str, chain: int) -> Iterator[tuple[int, np.ndarray]]:
        """Kind and random numbers of each elementary move of a round."""
        for choices, local, fresh in self._numbers(part, chain):
            resamples = iter(fresh)
            for kind, numbers in zip(choices, local, strict=True):
                yield int(kind), next(resamples) if kind == 0 else numbers

    def _entropy(self, entropy: Tensor | None) -> Tensor:
        if entropy is None:
            return self._no_entropy
        check_each(entropy, self.setup.chains, self.setup.graph.num_nodes)
        return entropy.to(self._no_entropy)
