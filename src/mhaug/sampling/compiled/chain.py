"""The chains in compiled loops, each on a thread of its own. On the CPU."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mhaug.sampling.chain import Chain, Change, StepReport
from mhaug.sampling.compiled import steps
from mhaug.sampling.compiled.arrays import Part, new_part, weigh, wire, without_units
from mhaug.sampling.compiled.ego import ego_log_prob, ego_moments
from mhaug.sampling.compiled.extra import loops_with
from mhaug.sampling.setup import Setup
from mhaug.sampling.starts import spread_starts
from mhaug.sampling.target import log_subsets

_RESAMPLES, _NO_LOCAL = np.zeros(64, dtype=np.int64), np.empty((0, 3))  # kinds of a run of resamples; no local moves


class CompiledChain(Chain):
    """See `Chain`. The graph is wired once and shared; a chain owns only its masks, counters and scratch."""

    def __init__(self, setup: Setup, *, seed: int) -> None:
        super().__init__(setup, seed=seed)
        wiring = wire(setup.graph)
        wirings = {"edges": wiring, "nodes": without_units(wiring, setup.graph.num_nodes)}
        self._parts: dict[str, list[Part]] = {}
        self._loops: dict[str, dict[str, Any]] = {}
        for part, target in setup.targets.items():
            original = target.original.cpu().numpy()
            options = (
                wirings[part],
                target.term,
                target.units,
                original,
                setup.hops,
                float(setup.step_sizes[part]),
            )
            terms = [target.extra.compiled() if target.extra else None for _ in range(setup.chains)]
            self._parts[part] = [new_part(*options, extra=term.state if term else ()) for term in terms]
            self._loops[part] = loops_with(terms[0]) if terms[0] else vars(steps)
        self._threads = ThreadPoolExecutor(min(setup.chains, os.cpu_count() or 1)) if setup.chains > 1 else None
        self.place(spread_starts(setup, seed=seed))

    def step(self, entropy: Tensor | None = None, *, rounds: int = 1) -> StepReport:
        """Every chain goes its rounds without waiting for the others."""
        self._weigh(entropy)
        tally = {part: np.zeros((self.setup.chains, 3, 2), dtype=np.int64) for part in self._parts}
        work = self._joint if self.setup.joint else self._separately
        if self._threads is None:
            work(0, rounds, tally)
        else:
            list(self._threads.map(lambda chain: work(chain, rounds, tally), range(self.setup.chains)))
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
            if target.extra is not None:
                total += target.extra.log_prob(self.kept(part))
        return total

    def place(self, kept: Mapping[str, Tensor]) -> None:
        """Counters from scratch."""
        for part, states in self._parts.items():
            for each, mask in zip(states, kept[part].cpu().numpy(), strict=True):
                each.kept[0, :-1] = mask
                self._loops[part]["place"](each, part == "edges")

    def _separately(self, chain: int, rounds: int, tally: dict[str, np.ndarray]) -> None:
        """Each part for itself."""
        for part, states in self._parts.items():
            run_round, counts, of_edges = self._loops[part]["run_round"], tally[part][chain], part == "edges"
            if self.setup.moves == "resample":
                for numbers in self._resamples(part, chain, rounds):
                    run_round(states[chain], _RESAMPLES[: len(numbers)], _NO_LOCAL, numbers, counts, of_edges)
            else:
                for _ in range(rounds):
                    for block in self._numbers(part, chain):
                        run_round(states[chain], *block, counts, of_edges)
                        del block  # or it would stand beside the next one

    def _joint(self, chain: int, rounds: int, tally: dict[str, np.ndarray]) -> None:
        """The paper's rule: both candidates or none."""
        for _ in range(rounds):
            total, counts, decides = 0.0, {}, 0.0
            for part, states in self._parts.items():
                numbers = next(self._resamples(part, chain, 1))[0]
                propose = self._loops[part]["propose_resample"]
                counts[part], ratio = propose(states[chain], numbers[:-1], part == "edges")
                total += ratio
                decides = numbers[-1] if len(counts) == 1 else decides
            accepted = bool(decides == 0.0 or np.log(decides) <= total)
            for part, count in counts.items():
                tally[part][chain, 0] += (1, accepted)
                self._loops[part]["keep_or_undo"](self._parts[part][chain], count, accepted)

    def _resamples(self, part: str, chain: int, count: int) -> Iterator[np.ndarray]:
        """The numbers of so many resamples in a row, in blocks that fit a cache."""
        width = self.setup.targets[part].units + 2
        block = max(1, min(len(_RESAMPLES), 2**16 // width))
        for first in range(0, count, block):
            size = min(block, count - first)
            yield self._rng[part].each[chain].numbers(size * width).reshape(size, width)

    def _weigh(self, entropy: Tensor | None) -> None:
        """μ_i and λ / (2 σ_i²) of each node, where ε has changed."""
        values = self._last_entropy.news(entropy)
        if values is not None:
            for part, states in self._parts.items():
                for each, mine in zip(states, values, strict=True):
                    weigh(each, self.setup.targets[part].term, mine)
