"""One part of the target (edges or nodes) of one chain, divided among ranks: masks, pieces, random streams."""

import numpy as np
import torch
from torch import Tensor

from mhaug.distributed.division import Division
from mhaug.distributed.workplace import Workplace
from mhaug.distributed.world import World
from mhaug.rng import Streams
from mhaug.sampling.setup import Outline
from mhaug.sampling.target import EgoTerm


class DividedPart:
    """Every rank knows the masks of the whole graph (a byte a unit), and holds the counters of its own pieces.

    Random streams belong to parts of the graph, not to ranks: nothing depends on how many ranks share the parts.
    """

    def __init__(self, setup: Outline, part: str, division: Division, *, seed: int, world: World) -> None:
        facts = division.facts.targets[part]
        self.part, self.world, self._setup = part, world, setup
        self.units, self.parts = setup.units(part), division.facts.parts
        self.put(np.ones(self.units, dtype=np.bool_))
        self.sizes = facts.owned  # how many units each part owns
        # which ones, of the parts of this rank; of the others none
        self.owned = [np.empty(0, dtype=np.int64) for _ in facts.owned]
        self.places = [self._workplaces(division, turn) for turn in range(len(facts.turns))]
        roles = [(seed, "piece", part, turn) for turn in range(len(facts.turns))]
        self.streams = [Streams(*role, count=self.parts) for role in roles]

    @property
    def term(self) -> EgoTerm:
        """What is wished of this part."""
        return self._setup.terms[self.part]

    @property
    def count_weight(self) -> float:
        """λ'."""
        return float(self.term.count_weight)

    @property
    def dropped(self) -> int:
        """d."""
        return int(self.kept.size - np.count_nonzero(self.kept))

    def put(self, kept: np.ndarray, ego: float | None = None) -> None:
        """Stand at these masks; `ego` is their ego term, where it is known."""
        self.kept, self._ego = kept, ego

    def weigh(self, entropy: np.ndarray) -> None:
        """ε has changed."""
        self._ego = None
        for turn in self.places:
            for place in turn.values():
                place.weigh(entropy)

    def own_ego_term(self) -> float:
        """The ego term of where the chain stands, counted once."""
        if self._ego is None:
            self._ego = self.ego_term(self.kept)
        return self._ego

    def ego_term(self, kept: np.ndarray) -> float:
        """-λ Σ_i (Δ_i - μ)² / (2 σ_i²) for masks that all ranks know, with the same bits on any number of ranks."""
        terms = torch.zeros(self.parts, dtype=torch.float64)
        for number, place in self.places[0].items():
            place.load(kept)
            terms[number] = place.ego_term()
        # each entry comes from one rank: the sum is taken here, in the order of parts
        return float(self.world.total(terms).sum())

    def moments(self) -> Tensor:
        """Mean of Δ_i over the nodes, and of its square, float64 [2]."""
        sums = torch.zeros(self.parts, 2, dtype=torch.float64)
        for number, place in self.places[0].items():
            place.load(self.kept)
            sums[number] = torch.tensor(place.moments(), dtype=torch.float64)
        return self.world.total(sums).sum(0) / max(self._setup.num_nodes, 1)

    def stream_states(self) -> dict[str, Tensor]:
        """Where the streams of all parts stand, wherever they run."""
        mine = list(self.world.share_of(self.parts))
        states = {}
        for turn, streams in enumerate(self.streams):
            rows = torch.zeros_like(streams.state())
            rows[mine] = streams.state()[mine]
            states[f"piece.{self.part}.{turn}"] = self.world.total(rows)
        return states

    def _workplaces(self, division: Division, turn: int) -> dict[int, Workplace]:
        """The pieces of this rank; nobody keeps what they were cut from."""
        present, places = set(division.facts.targets[self.part].turns[turn]), {}
        for number in self.world.share_of(self.parts):
            if number in present:
                share = division.share(self.part, turn, number)
                places[number] = Workplace(share, self.term, self._setup.hops, self.part)
                if turn == 0:
                    self.owned[number] = share.owned
        return places
