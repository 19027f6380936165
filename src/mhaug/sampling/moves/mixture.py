"""Rounds of elementary moves, each drawn by weight: neither the paper's move nor local ones are enough alone.

A mixture of reversible moves, drawn afresh each time by fixed weights, is reversible; so is any number of them in a
row. Weights are adapted in warm-up only, per chain, and then frozen.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mhaug.per_replica import PerReplica
from mhaug.sampling.moves.flip import Flip
from mhaug.sampling.moves.move import Move
from mhaug.sampling.moves.resample import Resample
from mhaug.sampling.moves.swap import Swap

KINDS = ("resample", "flip", "swap")  # in this order everywhere: weights, choices, tallies
MOVES = (*KINDS, "mixture")

# A round's work is that of half a sweep: each unit is proposed every other round. At the usual acceptance of a local
# move (0.2 to 0.35) a tenth or more of the units change in a round, as much news as training can use in one update.
# On dense graphs, where a flip touches hundreds of nodes, it is no more than that of 32 resamples.
SWEEP, MOST_RESAMPLES = 0.5, 32
# Elementary moves whose random numbers are in memory at once: a round of a large graph has tens of millions.
BLOCK = 2**18
# Numbers of resamples in memory at once, 32 MiB; where one resample takes more than that, one resample.
NUMBERS = 2**22
# Neither family is ever given up: the resample moves the count, local moves the rest.
LEAST_SHARE, MOST_SHARE = 0.05, 0.9


@dataclass(frozen=True)
class Round:
    """What one step of a chain does in one part: how many elementary moves, and how likely each kind is."""

    budget: int
    weights: tuple[float, float, float]

    @classmethod
    def of(cls, moves: str, units: int, share: float, resample_work: float) -> "Round":
        """The round of a named move.

        `share` is the part of a mixture's work that goes to resampling; a resample is worth `resample_work` local
        moves.
        """
        if moves == "resample" or units == 0:
            return cls(1, (1.0, 0.0, 0.0))
        share = share if moves == "mixture" else 0.0
        work = min(SWEEP * units, MOST_RESAMPLES * resample_work)
        local, resamples = (1.0 - share) * work, share * work / resample_work
        flips = {"flip": 1.0, "swap": 0.0, "mixture": 0.5}[moves]
        total = local + resamples
        weights = (resamples / total, flips * local / total, (1.0 - flips) * local / total)
        return cls(max(1, math.ceil(total)), weights)

    def choices(self, uniforms: np.ndarray) -> np.ndarray:
        """The kind of each elementary move, from one uniform number each."""
        return np.searchsorted(np.cumsum(self.weights)[:2], uniforms, side="right")


def blocks(moves: int) -> Iterator[int]:
    """So many moves in blocks that fit into memory."""
    for first in range(0, moves, BLOCK):
        yield min(BLOCK, moves - first)


def stretches(choices: np.ndarray, units: int) -> Iterator[slice]:
    """The moves of a block in stretches, so that the numbers of their resamples fit into memory.

    What a stretch draws comes right after what the one before drew: the numbers are those of an undivided block.
    """
    resamples, most = np.flatnonzero(choices == 0), max(1, NUMBERS // (units + 2))
    first = 0
    for end in [*resamples[most::most].tolist(), len(choices)]:
        yield slice(first, end)
        first = end


def elementary_moves(step_size: PerReplica) -> tuple[Move, Move, Move]:
    """The three kinds, in the order of `KINDS`."""
    return Resample(step_size), Flip(), Swap()


def best_share(resample_gain: float, local_gain: float) -> float:
    """The share of work for resampling, by how far each family moves the chain for the same work.

    Rounded: backends sum gains in another order, and a budget is a whole number that must be the same for both.
    """
    total = resample_gain + local_gain
    return round(min(max(resample_gain / total, LEAST_SHARE), MOST_SHARE), 6) if total > 0 else 0.5
