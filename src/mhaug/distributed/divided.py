"""One part of the target (edges or nodes) of one chain, divided among ranks: masks, pieces, random streams."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from mhaug.distributed.layout import Layout
from mhaug.distributed.piece import cut
from mhaug.distributed.reach import footprint
from mhaug.distributed.workplace import Workplace
from mhaug.distributed.world import World
from mhaug.rng import Streams
from mhaug.sampling.chain import Setup
from mhaug.sampling.target import EgoTarget


class DividedPart:
    """Every rank knows the masks of the whole graph (a byte a unit), and holds the counters of its own pieces.

    Random streams belong to parts of the graph, not to ranks: nothing depends on how many ranks share the parts.
    """

    def __init__(self, setup: Setup, part: str, layouts: Sequence[Layout], *, seed: int, world: World) -> None:
        self.target: EgoTarget = setup.targets[part]
        self.part, self.world, self._setup = part, world, setup
        self.put(np.ones(self.target.units, dtype=np.bool_))
        self.parts = layouts[0].parts
        self.places = [self._workplaces(layout, whole=turn == 0) for turn, layout in enumerate(layouts)]
        roles = [(seed, "piece", part, turn) for turn in range(len(layouts))]
        self.streams = [Streams(*role, count=self.parts) for role in roles]
        self.owned = self._owned(layouts[0].owner)

    @property
    def units(self) -> int:
        """M."""
        return self.target.units

    @property
    def count_weight(self) -> float:
        """λ'."""
        return float(self.target.term.count_weight)

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
        return self.world.total(sums).sum(0) / max(self._setup.graph.num_nodes, 1)

    def stream_states(self) -> dict[str, Tensor]:
        """Where the streams of all parts stand, wherever they run."""
        mine = list(self.world.share_of(self.parts))
        states = {}
        for turn, streams in enumerate(self.streams):
            rows = torch.zeros_like(streams.state())
            rows[mine] = streams.state()[mine]
            states[f"piece.{self.part}.{turn}"] = self.world.total(rows)
        return states

    def _workplaces(self, layout: Layout, *, whole: bool) -> dict[int, Workplace]:
        """The pieces of this rank. Those of the first layout hold every node of their parts, for log P as a whole."""
        graph, hops, places = self._setup.graph, self._setup.hops, {}
        for number in self.world.share_of(layout.parts):
            movable = layout.mover == number
            own = layout.owner == number if whole else footprint(graph, movable, hops, self.part)
            # where parts are few nodes each, METIS leaves some without any
            if bool(own.any()):
                piece = cut(graph, own, movable, hops, self.part)
                places[number] = Workplace(piece, self.target, hops, self.part)
        return places

    def _owned(self, owner: Tensor) -> list[np.ndarray]:
        """The units of each part: an edge belongs to the part of its first end, so each has one owner."""
        of_unit = owner[self._setup.graph.unit_edges[0]] if self.part == "edges" else owner
        return [(of_unit == number).nonzero().squeeze(1).numpy() for number in range(self.parts)]
