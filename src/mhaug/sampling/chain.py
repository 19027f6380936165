"""Several chains on one graph, side by side: what all of them share, and what those that hold the graph do."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mhaug.rng import Streams
from mhaug.sampling.entropy import LastEntropy
from mhaug.sampling.moves.mixture import KINDS, Round, best_share, blocks, stretches
from mhaug.sampling.setup import Outline, Setup
from mhaug.sampling.subgraph import Subgraph


@dataclass(frozen=True)
class StepReport:
    """What one step did, as counts [chains, 3, 2] for each part: kind of move, then proposed and accepted."""

    tally: dict[str, np.ndarray]
    setup: Outline

    @property
    def moved(self) -> np.ndarray:
        """Whether any proposal of any part was accepted, bool [chains]."""
        return sum(counts[:, :, 1].sum(1) for counts in self.tally.values()) > 0

    def counts(self, outcome: int) -> dict[str, np.ndarray]:
        """Proposed (0) or accepted (1) by "move/part", long [chains]; "resample/joint" under joint acceptance."""
        if self.setup.joint:
            return {"resample/joint": next(iter(self.tally.values()))[:, 0, outcome]}
        kinds = [kind for kind, name in enumerate(KINDS) if self.setup.moves in (name, "mixture")]
        return {
            f"{KINDS[kind]}/{part}": rows[:, kind, outcome] for part, rows in self.tally.items() for kind in kinds
        }


class Change(NamedTuple):
    """The change ratios of one part where the chains stand, [chains]."""

    full: Tensor  # ΔG': share of units dropped
    ego: Tensor  # mean of Δ_i over the nodes
    spread: Tensor  # standard deviation of Δ_i over the nodes


class AnyChain(ABC):
    """The exact sequence of states, repeats included: after a rejection a step leaves the state where it was.

    It is this sequence that has the law P in the long run, for an entropy that does not change. The accepted
    candidates alone do not: they have the law of P times the probability of leaving. Each part of each chain has a
    random stream of its own.
    """

    def __init__(self, setup: Outline, *, seed: int, device: torch.device | None = None) -> None:
        self.setup, self.device = setup, device or torch.device("cpu")
        chains = setup.chains
        self._rng = {part: Streams(seed, "chain", part, count=chains, device=self.device) for part in setup.terms}
        self.shares = {part: np.full(chains, 0.5) for part in setup.terms}
        self._last_entropy = LastEntropy(chains, setup.num_nodes)

    @abstractmethod
    def step(self, entropy: Tensor | None = None, *, rounds: int = 1) -> StepReport:
        """Move every chain on by so many rounds. `entropy` is ε, [V] or [chains, V] (0 where None)."""

    @abstractmethod
    def kept(self, part: str) -> Tensor:
        """Which units of a part are kept, bool [chains, units]; a copy."""

    @abstractmethod
    def change(self, part: str) -> Change:
        """How far the chains are from the whole graph, in one part."""

    @abstractmethod
    def log_prob(self, entropy: Tensor | None = None) -> Tensor:
        """Unnormalised log P of where the chains stand (Eq. 4: the sum over the parts), float64 [chains]."""

    @abstractmethod
    def place(self, kept: Mapping[str, Tensor]) -> None:
        """Put the chains where these units are kept."""

    @property
    def subgraph(self) -> Subgraph:
        """Where the chains stand, [chains, ...]; a part that is never dropped is kept whole."""
        sizes = {part: (self.setup.chains, self.setup.units(part)) for part in ("edges", "nodes")}
        whole = (torch.ones(size, dtype=torch.bool, device=self.device) for size in sizes.values())
        pairs = zip(sizes, whole, strict=True)
        return Subgraph(*(self.kept(part) if part in self.setup.terms else mask for part, mask in pairs))

    def warm_up(self, steps: int, entropy: Tensor | None = None) -> Iterable[None]:
        """Steps before the first draw, one for each item. A mixture finds its weights here, and keeps them."""
        adapts = self.setup.moves == "mixture" and steps >= 8
        gains = {part: np.zeros((2, self.setup.chains)) for part in self.setup.terms}
        for step in range(steps):
            family = step % 2 if adapts and step >= steps // 2 else None
            before = {part: self.change(part).ego for part in gains} if family is not None else {}
            if family is not None:
                # one family at a time, with the same work: how far does each of them move the chain
                self._set_shares(float(family == 0))
            self.step(entropy)
            for part, ego in before.items():
                gains[part][family] += (self.change(part).ego - ego).square().cpu().numpy()
            yield
        if adapts:
            for part, (resampling, local) in gains.items():
                self.shares[part] = np.array([best_share(*pair) for pair in zip(resampling, local, strict=True)])

    def state_dict(self) -> dict[str, Tensor]:
        """All that a resumed chain needs: masks, weights, random streams."""
        saved = {part: self.kept(part) for part in self.setup.terms}
        for part, streams in self._rng.items():
            saved[f"rng.{part}"] = streams.state()
            saved[f"share.{part}"] = torch.from_numpy(self.shares[part].copy())
        return saved

    def load_state_dict(self, saved: Mapping[str, Tensor]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self.place({part: saved[part] for part in self.setup.terms})
        for part, streams in self._rng.items():
            streams.restore(saved[f"rng.{part}"])
            self.shares[part] = saved[f"share.{part}"].cpu().numpy().copy()

    def _set_shares(self, share: float) -> None:
        for part in self.shares:
            self.shares[part] = np.full(self.setup.chains, share)


class Chain(AnyChain):
    """Chains that hold the graph: what both backends share."""

    setup: Setup

    def __init__(self, setup: Setup, *, seed: int) -> None:
        super().__init__(setup, seed=seed, device=setup.graph.unit_edges.device)
        self.graph = setup.graph

    def _numbers(self, part: str, chain: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """A round's random numbers, block by block: kinds of elementary moves, those of local moves, of resamples."""
        stream, units = self._rng[part].each[chain], self.setup.units(part)
        share, work = float(self.shares[part][chain]), self.setup.resample_work[part]
        plan = Round.of(self.setup.moves, units, share, work)
        for moves in blocks(plan.budget):
            choices = plan.choices(stream.numbers(moves))
            local = stream.numbers(3 * moves).reshape(-1, 3)
            for these in stretches(choices, units):
                resamples = int((choices[these] == 0).sum())
                # not named here: a name would hold it while the next one is drawn
                yield choices[these], local[these], stream.numbers(resamples * (units + 2)).reshape(-1, units + 2)
