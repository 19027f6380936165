"""One chain on a graph in parts: parts move at the same time, and the law is that of the chain on the whole."""

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from mhaug import checks
from mhaug.distributed.allowed import check_sampler
from mhaug.distributed.divided import DividedPart
from mhaug.distributed.division import Division
from mhaug.distributed.inside import move_inside
from mhaug.distributed.resample_whole import resample_whole
from mhaug.distributed.world import World
from mhaug.sampling.chain import AnyChain, Change, StepReport
from mhaug.sampling.compiled.counts import log_subsets
from mhaug.sampling.moves.mixture import Round
from mhaug.sampling.sampler import MHAug


class PartitionedChain(AnyChain):
    """See `AnyChain`; a single chain, started at the whole graph. All ranks call the same methods in the same order.

    A round goes through all layouts and some resamples, in a random order. Each of these leaves P invariant; the
    order comes from a stream that all ranks share and that knows nothing of the state, and is as likely as its
    reverse, so a round is reversible. It does as much work as a round of the chain on the whole graph.
    """

    def __init__(self, sampler: MHAug, division: Division, *, seed: int, world: World | None = None) -> None:
        check_sampler(sampler)
        facts = division.facts
        facts.check(sampler)
        work = {part: each.resample_work for part, each in facts.targets.items()}
        super().__init__(sampler.outline(facts.num_nodes, facts.num_units, work), seed=seed)
        self.world = world or World.alone()
        self.state = {
            part: DividedPart(self.setup, part, division, seed=seed, world=self.world) for part in self.setup.terms
        }

    def step(self, entropy: Tensor | None = None, *, rounds: int = 1) -> StepReport:
        """Each rank moves its parts; the report counts the moves of all ranks."""
        self._weigh(entropy)
        tally = {part: np.zeros((1, 3, 2), dtype=np.int64) for part in self.state}
        for _ in range(rounds):
            for part, state in self.state.items():
                if state.units:
                    self._round(state, tally[part][0])
        # resamples are made by all ranks together, and counted by the first
        for counts in tally.values():
            counts[:, 0] *= self.world.leads
        counted = {part: self.world.total(torch.from_numpy(counts)).numpy() for part, counts in tally.items()}
        return StepReport(counted, self.setup)

    def kept(self, part: str) -> Tensor:
        """A copy of the masks."""
        return torch.from_numpy(self.state[part].kept.copy()).unsqueeze(0)

    def change(self, part: str) -> Change:
        """From the pieces of all ranks."""
        state = self.state[part]
        mean, square = state.moments()
        full = torch.tensor([state.dropped / max(state.units, 1)], dtype=torch.float64)
        return Change(full, mean.view(1), (square - mean.square()).clamp(min=0.0).sqrt().view(1))

    def log_prob(self, entropy: Tensor | None = None) -> Tensor:
        """The terms of all parts' nodes, and the count's."""
        self._weigh(entropy)
        total = torch.zeros(1, dtype=torch.float64)
        for state in self.state.values():
            total += state.own_ego_term() - state.count_weight * log_subsets(state.units, state.dropped)
        return total

    def place(self, kept: Mapping[str, Tensor]) -> None:
        """Counters are made where they are needed."""
        for part, state in self.state.items():
            state.put(kept[part].cpu().numpy().reshape(-1).copy())

    def state_dict(self) -> dict[str, Tensor]:
        """Masks, weights, and the streams of all parts: any number of ranks can go on from it."""
        states = [state.stream_states() for state in self.state.values()]
        return {**super().state_dict(), **{name: rows for each in states for name, rows in each.items()}}

    def load_state_dict(self, saved: Mapping[str, Tensor]) -> None:
        """Go on exactly where `state_dict` was taken."""
        for part, state in self.state.items():
            rows = [saved.get(f"piece.{part}.{turn}", ()) for turn in range(len(state.streams) + 1)]
            fits = [len(each) for each in rows] == [state.parts] * len(state.streams) + [0]
            checks.require(fits, "checkpoint", "of a chain that was divided in the same way", f"other {part}")
        super().load_state_dict(saved)
        for part, state in self.state.items():
            for turn, streams in enumerate(state.streams):
                streams.restore(saved[f"piece.{part}.{turn}"])

    def _round(self, state: DividedPart, tally: np.ndarray) -> None:
        share, shared = float(self.shares[state.part][0]), self._rng[state.part].generator(0)
        plan = Round.of(self.setup.moves, state.units, share, self.setup.resample_work[state.part])
        resamples, local = math.ceil(plan.weights[0] * plan.budget), plan.weights[1] + plan.weights[2]
        turns = [None] * resamples + (list(range(len(state.places))) if local > 0 else [])
        for number in shared.random(len(turns)).argsort(kind="stable"):
            turn = turns[number]
            if turn is None:
                step_size = float(self.setup.step_sizes[state.part])
                tally[0] += (1, resample_whole(state, step_size, shared=shared))
            else:
                moves, flips = local * plan.budget / state.units, plan.weights[1] / local
                tally += move_inside(state, turn, moves, flips, shared=shared)

    def _weigh(self, entropy: Tensor | None) -> None:
        values = self._last_entropy.news(entropy)
        if values is not None:
            for state in self.state.values():
                state.weigh(values[0].numpy())
