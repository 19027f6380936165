"""A piece at work: the compiled loops' arrays for one piece of one chain."""

from typing import NamedTuple

import numpy as np
import torch

from mhaug.distributed.local_moves import run_moves
from mhaug.distributed.piece import Share
from mhaug.sampling.compiled.arrays import INVERSE, WEIGHT, new_part, weigh, wire, without_units
from mhaug.sampling.compiled.ego import ego_log_prob
from mhaug.sampling.compiled.steps import FLIP, SWAP, place
from mhaug.sampling.target import EgoTerm


class Moments(NamedTuple):
    """Sums over the own nodes of Δ_i and of its square."""

    total: float
    squares: float


class Workplace:
    """Counters and scratch of one piece. `load` brings them up to date with the masks of the whole graph."""

    def __init__(self, share: Share, term: EgoTerm, hops: int, part: str) -> None:
        piece = share.piece
        wiring = wire(piece.graph)
        self._of_edges = part == "edges"
        wiring = wiring if self._of_edges else without_units(wiring, piece.graph.num_nodes)
        # the wiring says all that the graph does
        self.piece, self._term = piece.numbering, term
        # the step size is for resampling the whole graph, which no piece does
        self.arrays = new_part(wiring, term, len(piece.units), share.original, hops, 1.0)

    @property
    def movable(self) -> np.ndarray:
        """Numbers in the whole graph of the units that are moved here."""
        return self.piece.units[: self.piece.movable]

    @property
    def kept(self) -> np.ndarray:
        """Which of `movable` are kept here, bool."""
        return self.arrays.kept[self.arrays.counts[0], : self.piece.movable]

    def weigh(self, entropy: np.ndarray) -> None:
        """The own nodes' terms; those of the halo are others' business."""
        weigh(self.arrays, self._term, torch.from_numpy(entropy[self.piece.nodes]))
        self.arrays.terms[~self.piece.own, WEIGHT] = 0.0

    def load(self, kept: np.ndarray) -> None:
        """Counters from scratch, for these masks of the whole graph."""
        self.arrays.kept[0, :-1] = kept[self.piece.units]
        place(self.arrays, self._of_edges)

    def move(self, choices: np.ndarray, local: np.ndarray, tilt: float) -> np.ndarray:
        """Run elementary moves; how many of each kind were proposed and accepted, [3, 2]."""
        tally = np.zeros((3, 2), dtype=np.int64)
        run_moves(self.arrays, self.piece.movable, choices, local, tilt, tally, self._of_edges)
        return tally

    def ego_term(self) -> float:
        """The own nodes' part of log P."""
        return float(ego_log_prob(self.arrays, self.arrays.counts[0]))

    def moments(self) -> Moments:
        """Of the own nodes' change ratios."""
        received = self.arrays.levels[self.arrays.counts[0], -1]
        ratio = (1.0 - received * self.arrays.terms[:, INVERSE])[self.piece.own]
        return Moments(float(ratio.sum()), float(np.square(ratio).sum()))


def kinds(uniforms: np.ndarray, flips: float) -> np.ndarray:
    """Flip or swap, from one uniform number each; `flips` is the share of flips."""
    return np.where(uniforms < flips, FLIP, SWAP)
