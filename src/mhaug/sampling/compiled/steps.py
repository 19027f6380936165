"""Moves in compiled loops: resample, flip, swap. Each reads its random numbers from an array, in the torch order."""

import math

import numpy as np
from numba import njit

from mhaug.sampling.compiled.arrays import Part
from mhaug.sampling.compiled.counts import draw_count, keep_subset, log_mass, log_subsets
from mhaug.sampling.compiled.ego import (
    apply,
    clear,
    count_gain,
    edge_differences,
    ego_log_prob,
    fill_edges,
    fill_nodes,
    gain,
    node_differences,
)

RESAMPLE, FLIP, SWAP = 0, 1, 2


# A term of the user's own would stand here (`extra.py` puts it in); without one these compile to nothing.
@njit(cache=True, nogil=True)
def extra_fill(state: tuple[()], kept: np.ndarray) -> float:
    """Full value."""
    return 0.0


@njit(cache=True, nogil=True)
def extra_gain(state: tuple[()], kept: np.ndarray, unit: int) -> float:
    """Difference of a flip."""
    return 0.0


@njit(cache=True, nogil=True)
def extra_apply(state: tuple[()], kept: np.ndarray, unit: int) -> None:
    """Remember a flip."""


@njit(cache=True, nogil=True)
def _fill(part: Part, buffer: int, of_edges: bool) -> None:
    if of_edges:
        fill_edges(part, buffer)
    else:
        fill_nodes(part, buffer)


@njit(cache=True, nogil=True)
def propose_resample(part: Part, uniforms: np.ndarray, of_edges: bool) -> tuple[int, float]:
    """A candidate in the spare buffer: its count, and the log of the acceptance ratio (Eq. 7).

    `uniforms` holds one number for the count and one key a unit.
    """
    active, given = part.counts[0], part.counts[1]
    units, step_size = part.kept.shape[1] - 1, part.numbers[1]
    if units == 0:
        return 0, 0.0
    spare = 1 - active
    count = draw_count(uniforms[0], given, units, step_size)
    keep_subset(uniforms[1:], count, part.kept[spare], part.window)
    _fill(part, spare, of_edges)
    if math.isnan(part.known[0]):
        part.known[0] = ego_log_prob(part, active)
    candidate = ego_log_prob(part, spare)
    ratio = candidate - part.known[0]
    if len(part.extra) > 0:
        # in this order: the memory is then that of the candidate
        ratio -= extra_fill(part.extra, part.kept[active])
        ratio += extra_fill(part.extra, part.kept[spare])
    ratio += log_mass(given, count, units, step_size) - log_mass(count, given, units, step_size)
    # 1 / C(M, d) stands in the target with the power λ' and in the proposal with the power 1
    if part.numbers[0] != 1.0:
        ratio += (1.0 - part.numbers[0]) * (log_subsets(units, count) - log_subsets(units, given))
    return count, ratio


@njit(cache=True, nogil=True)
def keep_or_undo(part: Part, count: int, accepted: bool) -> None:
    """Move to the candidate in the spare buffer, or forget it."""
    if accepted:
        part.counts[0] = 1 - part.counts[0]
        part.counts[1] = count
        part.known[0] = np.nan
    elif len(part.extra) > 0:
        extra_fill(part.extra, part.kept[part.counts[0]])


@njit(cache=True, nogil=True)
def differences(part: Part, unit: int, of_edges: bool) -> None:
    if of_edges:
        edge_differences(part, unit)
    else:
        node_differences(part, unit)


@njit(cache=True, nogil=True)
def flip(part: Part, which: float, uniform: float, of_edges: bool) -> bool:
    """Drop or restore one unit; `which` chooses it, `uniform` decides."""
    units = part.kept.shape[1] - 1
    unit = int(which * units)
    kept = part.kept[part.counts[0]]
    differences(part, unit, of_edges)
    ratio = gain(part) + count_gain(part, units, kept[unit]) + extra_gain(part.extra, kept, unit)
    if math.log(uniform) <= ratio if uniform > 0 else True:
        extra_apply(part.extra, kept, unit)
        apply(part, unit)
        return True
    clear(part)
    return False


@njit(cache=True, nogil=True)
def swap(part: Part, first: float, second: float, uniform: float, of_edges: bool) -> bool:
    """Flip two units of which one is kept and one dropped: the count, and its term, stay as they are.

    Two units that are alike are left alone, as a proposal to stay. The second difference is taken after a
    provisional first flip, which a rejection undoes.
    """
    units = part.kept.shape[1] - 1
    one, other = int(first * units), int(second * units)
    kept = part.kept[part.counts[0]]
    if kept[one] == kept[other]:
        return False
    differences(part, one, of_edges)
    ratio = gain(part) + extra_gain(part.extra, kept, one)
    extra_apply(part.extra, kept, one)
    apply(part, one)
    differences(part, other, of_edges)
    ratio += gain(part) + extra_gain(part.extra, kept, other)
    if math.log(uniform) <= ratio if uniform > 0 else True:
        extra_apply(part.extra, kept, other)
        apply(part, other)
        return True
    clear(part)
    differences(part, one, of_edges)
    extra_apply(part.extra, kept, one)
    apply(part, one)
    return False


@njit(cache=True, nogil=True)
def run_round(
    part: Part, choices: np.ndarray, local: np.ndarray, fresh: np.ndarray, tally: np.ndarray, of_edges: bool
) -> None:
    """Elementary moves one after another: `choices` names each, `tally` [3, 2] counts proposed and accepted.

    `local` [moves, 3] has the numbers of flips and swaps, `fresh` [resamples, units + 2] those of resamples.
    """
    resampled = 0
    for move in range(len(choices)):
        kind = choices[move]
        tally[kind, 0] += 1
        if kind == RESAMPLE:
            numbers = fresh[resampled]
            resampled += 1
            count, ratio = propose_resample(part, numbers[:-1], of_edges)
            accepted = math.log(numbers[-1]) <= ratio if numbers[-1] > 0 else True
            keep_or_undo(part, count, accepted)
            tally[kind, 1] += accepted
        elif kind == FLIP:
            tally[kind, 1] += flip(part, local[move, 0], local[move, 2], of_edges)
        else:
            tally[kind, 1] += swap(part, local[move, 0], local[move, 1], local[move, 2], of_edges)


@njit(cache=True, nogil=True)
def place(part: Part, of_edges: bool) -> None:
    """After `kept` of buffer 0 was set from outside: count and levels from scratch."""
    part.known[0] = np.nan
    part.counts[0] = 0
    part.counts[1] = part.kept.shape[1] - 1 - part.kept[0, :-1].sum()
    _fill(part, 0, of_edges)
    # where there is nothing to drop, a candidate is the state itself
    part.kept[1] = part.kept[0]
    part.levels[1] = part.levels[0]
    extra_fill(part.extra, part.kept[0])
