"""Flips and swaps among the units that one piece moves, under a tilt in place of the count's term. Compiled."""

import math

import numpy as np
from numba import njit

from mhaug.sampling.compiled.arrays import Part
from mhaug.sampling.compiled.steps import FLIP, SWAP, settle_flip, settle_swap, weigh_flip, weigh_swap


@njit(cache=True, nogil=True)
def tilted_flip(part: Part, unit: int, tilt: float, of_edges: bool) -> float:
    """log of the ratio of a flip's weights; `settle_flip` comes next. Each dropped unit adds `tilt`."""
    drops = part.kept[part.counts[0], unit]
    return weigh_flip(part, unit, of_edges) + (tilt if drops else -tilt)


@njit(cache=True, nogil=True)
def run_moves(
    part: Part, movable: int, choices: np.ndarray, local: np.ndarray, tilt: float, tally: np.ndarray, of_edges: bool
) -> None:
    """Elementary moves one after another among the first `movable` units; `tally` [3, 2] counts them.

    `choices` names each move (1 a flip, 2 a swap), `local` [moves, 3] has its random numbers.
    """
    for move in range(len(choices)):
        one, other, uniform = int(local[move, 0] * movable), int(local[move, 1] * movable), local[move, 2]
        log_uniform = math.log(uniform) if uniform > 0 else -math.inf
        kept = part.kept[part.counts[0]]
        if choices[move] == FLIP:
            tally[FLIP, 0] += 1
            tally[FLIP, 1] += settle_flip(part, one, log_uniform <= tilted_flip(part, one, tilt, of_edges))
            continue
        tally[SWAP, 0] += 1
        # two units that are alike stay: the swap changes nothing
        if kept[one] != kept[other]:
            accepted = log_uniform <= weigh_swap(part, one, other, of_edges)
            tally[SWAP, 1] += settle_swap(part, one, other, accepted, of_edges)
