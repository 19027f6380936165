"""The chains in compiled loops, each on a thread of its own. On the CPU."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from mhaug.sampling.chain import Chain, Change, Setup, StepReport, spread_starts
from mhaug.sampling.compiled.arrays import new_part, wire, without_units
from mhaug.sampling.compiled.ego import ego_log_prob, ego_moments
from mhaug.sampling.compiled.steps import place, propose_resample, run_round, take_candidate
from mhaug.sampling.target import log_subsets


class CompiledChain(Chain):
    """See `Chain`. The graph is wired once and shared; a chain owns only its masks, counters and scratch."""

    def __init__(self, setup: Setup, *, seed: int) -> None:
        super().__init__(setup, seed=seed)
        wiring = wire(setup.graph)
        wirings = {"edges": wiring, "nodes": without_units(wiring, setup.graph.num_nodes)}
        self._parts = {
            part: [new_part(wirings[part], target, setup.hops, setup.step_sizes[part]) for _ in range(setup.chains)]
            for part, target in setup.targets.items()
        }
        self._threads = ThreadPoolExecutor(min(setup.chains, os.cpu_count() or 1)) if setup.chains > 1 else None
        self._entropy: tuple[Tensor | None, int | None] = (torch.empty(0), -1)  # none seen yet
        self.place(spread_starts(setup, seed=seed))

    def step(self, entropy: Tensor | None = None) -> StepReport:
        """One round of every chain and part."""
        self._weigh(entropy)
        tally = {part: np.zeros((self.setup.chains, 3, 2), dtype=np.int64) for part in self._parts}
        if self.setup.joint:
            self._each(lambda chain: self._joint(chain, tally))
            return StepReport(tally, self.setup)

        def move(chain: int) -> None:
            for part, states in self._parts.items():
                run_round(states[chain], *self._numbers(part, chain), tally[part][chain], part == "edges")

        self._each(move)
        return StepReport(tally, self.setup)

    def kept(self, part: str) -> Tensor:
        """A copy of the masks."""
        return torch.from_numpy(np.stack([each.kept[each.counts[0], :-1] for each in self._parts[part]]))

    def change(self, part: str) -> Change:
        """From the counters at hand."""
        units = max(self.setup.targets[part].units, 1)
        full = torch.tensor([each.counts[1] / units for each in self._parts[part]], dtype=torch.float64)
        moments = torch.tensor([ego_moments(each) for each in self._parts[part]], dtype=torch.float64)
        return Change(full, moments[:, 0], moments[:, 1])

    def log_prob(self, entropy: Tensor | None = None) -> Tensor:
        """From the counters at hand."""
        self._weigh(entropy)
        total = torch.zeros(self.setup.chains, dtype=torch.float64)
        for part, states in self._parts.items():
            target = self.setup.targets[part]
            dropped = torch.tensor([each.counts[1] for each in states])
            total -= target.term.count_weight * log_subsets(target.units, dropped)
            total += torch.tensor([ego_log_prob(each, each.counts[0]) for each in states], dtype=torch.float64)
        return total

    def place(self, kept: Mapping[str, Tensor]) -> None:
        """Counters from scratch."""
        for part, states in self._parts.items():
            for each, mask in zip(states, kept[part].cpu().numpy(), strict=True):
                each.kept[0, :-1] = mask
                place(each, part == "edges")

    def _joint(self, chain: int, tally: dict[str, np.ndarray]) -> None:
        """The paper's rule: both candidates or none."""
        total, counts, decides = 0.0, {}, 0.0
        for part, states in self._parts.items():
            numbers = self._rng[part].each[chain].numbers(self.setup.targets[part].units + 2)
            counts[part], ratio = propose_resample(states[chain], numbers[:-1], part == "edges")
            total += ratio
            decides = numbers[-1] if len(counts) == 1 else decides
        accepted = decides == 0.0 or np.log(decides) <= total
        for part, count in counts.items():
            tally[part][chain, 0] += (1, accepted)
            if accepted:
                take_candidate(self._parts[part][chain], count)

    def _each(self, work: Callable[[int], None]) -> None:
        if self._threads is None:
            work(0)
        else:
            list(self._threads.map(work, range(self.setup.chains)))

    def _weigh(self, entropy: Tensor | None) -> None:
        """λ / (2 σ_i²) of each node, where ε has changed."""
        # the version tells whether a tensor was changed in place
        seen = (entropy, None if entropy is None else entropy._version)
        if seen[0] is self._entropy[0] and seen[1] == self._entropy[1]:
            return
        self._entropy = seen
        nodes = self.graph.num_nodes
        values = np.zeros(nodes) if entropy is None else entropy.detach().cpu().double().numpy()
        values = np.broadcast_to(values, (self.setup.chains, nodes))
        for part, states in self._parts.items():
            term = self.setup.targets[part].term
            for each, mine in zip(states, values, strict=True):
                spread = term.spread_slope * mine + term.spread_floor
                each.weights[:] = 0.5 * term.ego_weight / np.square(spread)
