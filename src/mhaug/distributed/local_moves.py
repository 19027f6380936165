"""Flips and swaps among the units that one piece moves, under a tilt in place of the count's term. Compiled.

As in `sampling/compiled/steps.py`, but weighing and settling are apart, so that tests can ask for the weights alone.
"""

import math

import numpy as np
from numba import njit

from mhaug.sampling.compiled.arrays import Part
from mhaug.sampling.compiled.ego import apply, clear, gain
from mhaug.sampling.compiled.steps import FLIP, SWAP, differences


@njit(cache=True, nogil=True)
def weigh_flip(part: Part, unit: int, tilt: float, of_edges: bool) -> float:
    """log of the ratio of a flip's weights; `settle_flip` comes next. Each dropped unit adds `tilt`."""
    differences(part, unit, of_edges)
    return gain(part) + (tilt if part.kept[part.counts[0], unit] else -tilt)


@njit(cache=True, nogil=True)
def settle_flip(part: Part, unit: int, accepted: bool) -> None:
    """Make the flip that was weighed, or forget it."""
    if accepted:
        apply(part, unit)
    else:
        clear(part)


@njit(cache=True, nogil=True)
def weigh_swap(part: Part, one: int, other: int, of_edges: bool) -> float:
    """log of the ratio of a swap's weights, after a provisional flip of `one`; `settle_swap` comes next."""
    differences(part, one, of_edges)
    ratio = gain(part)
    apply(part, one)
    differences(part, other, of_edges)
    return ratio + gain(part)


@njit(cache=True, nogil=True)
def settle_swap(part: Part, one: int, other: int, accepted: bool, of_edges: bool) -> None:
    """Flip `other` as well, or undo the flip of `one`."""
    settle_flip(part, other, accepted)
    if not accepted:
        differences(part, one, of_edges)
        apply(part, one)


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
        if choices[move] == FLIP:
            accepted = log_uniform <= weigh_flip(part, one, tilt, of_edges)
            settle_flip(part, one, accepted)
            tally[FLIP, 0] += 1
            tally[FLIP, 1] += accepted
            continue
        tally[SWAP, 0] += 1
        # two units that are alike stay: the swap changes nothing
        if part.kept[part.counts[0], one] != part.kept[part.counts[0], other]:
            accepted = log_uniform <= weigh_swap(part, one, other, of_edges)
            settle_swap(part, one, other, accepted, of_edges)
            tally[SWAP, 1] += accepted
