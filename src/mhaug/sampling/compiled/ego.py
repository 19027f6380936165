"""The ego term in compiled loops: its full value, the difference that one flip makes, and the update on acceptance.

Everything counted is a whole number, so nothing drifts. A flip changes Ã'^l m only near the unit: the difference is
carried from level to level, δ_l = Ã'' δ_{l-1} + (Ã'' - Ã') s_{l-1}, over the few nodes that it reaches.
"""

import math

import numpy as np
from numba import njit

from mhaug.sampling.compiled.arrays import INVERSE, STRENGTH, WEIGHT, Part


@njit(cache=True, nogil=True)
def fill_edges(part: Part, buffer: int) -> None:
    """Ã'^l 1 of the edges kept in `buffer`, from scratch."""
    wiring, kept = part.wiring, part.kept[buffer]
    part.levels[buffer, 0, :] = 1
    part.levels[buffer, 1, :] = 1
    # the first level only counts kept edges, and a product instead of a branch serves everywhere: which units are
    # kept is random, and a processor guesses badly
    for unit in range(wiring.ends.shape[1]):
        on = np.int64(kept[unit])
        part.levels[buffer, 1, wiring.ends[0, unit]] += on
        part.levels[buffer, 1, wiring.ends[1, unit]] += on
    for level in range(2 if wiring.ends.shape[1] else 1, part.levels.shape[1]):
        before, after = part.levels[buffer, level - 1], part.levels[buffer, level]
        after[:] = before
        for unit in range(wiring.ends.shape[1]):
            one, other, on = wiring.ends[0, unit], wiring.ends[1, unit], np.int64(kept[unit])
            after[one] += on * before[other]
            after[other] += on * before[one]
        for unit in range(0 if wiring.ends.shape[1] else len(wiring.unit_pointers) - 1):
            on = np.int64(kept[unit])
            for column in range(wiring.unit_pointers[unit], wiring.unit_pointers[unit + 1]):
                after[wiring.unit_targets[column]] += on * before[wiring.unit_sources[column]]


@njit(cache=True, nogil=True)
def fill_nodes(part: Part, buffer: int) -> None:
    """Ã^l m of the nodes kept in `buffer`, on the original edges, from scratch."""
    wiring = part.wiring
    part.levels[buffer, 0, :] = part.kept[buffer, :-1]
    for level in range(1, part.levels.shape[1]):
        before, after = part.levels[buffer, level - 1], part.levels[buffer, level]
        after[:] = before
        for node in range(len(wiring.pointers) - 1):
            for column in range(wiring.pointers[node], wiring.pointers[node + 1]):
                after[wiring.targets[column]] += before[node]


@njit(cache=True, nogil=True)
def ego_log_prob(part: Part, buffer: int) -> float:
    """-λ Σ_i (Δ_i - μ_i)² / (2 σ_i²)."""
    received, terms, total = part.levels[buffer, -1], part.terms, 0.0
    for node in range(len(received)):
        distance = 1.0 - received[node] * terms[node, INVERSE] - terms[node, STRENGTH]
        total -= terms[node, WEIGHT] * distance * distance
    return total


@njit(cache=True, nogil=True)
def ego_moments(part: Part) -> tuple[float, float]:
    """Mean and standard deviation of Δ_i over the nodes."""
    received, total, squares = part.levels[part.counts[0], -1], 0.0, 0.0
    for node in range(len(received)):
        ratio = 1.0 - received[node] * part.terms[node, INVERSE]
        total += ratio
        squares += ratio * ratio
    mean = total / len(received)
    return mean, math.sqrt(max(squares / len(received) - mean * mean, 0.0))


@njit(cache=True, nogil=True)
def _add(part: Part, level: int, node: int, difference: int) -> None:
    # all differences of one flip have the same sign, so that a node which was touched is never back at 0
    if part.delta[level, node] == 0:
        part.touched[level, part.sizes[level]] = node
        part.sizes[level] += 1
    part.delta[level, node] += difference


@njit(cache=True, nogil=True)
def _carry(part: Part, level: int, flipped: int, sign: int) -> None:
    """δ_level gets Ã'' δ_{level-1}, where `flipped` (if it is an edge) already has its new state."""
    wiring, kept = part.wiring, part.kept[part.counts[0]]
    for place in range(part.sizes[level - 1]):
        node = part.touched[level - 1, place]
        difference = part.delta[level - 1, node]
        _add(part, level, node, difference)
        for column in range(wiring.pointers[node], wiring.pointers[node + 1]):
            unit = wiring.units[column]
            if sign > 0 if unit == flipped else kept[unit]:
                _add(part, level, wiring.targets[column], difference)


@njit(cache=True, nogil=True)
def edge_differences(part: Part, unit: int) -> None:
    """Fill δ_l for the flip of one edge unit."""
    wiring, levels = part.wiring, part.levels[part.counts[0]]
    sign = -1 if part.kept[part.counts[0], unit] else 1
    for level in range(1, levels.shape[0]):
        _carry(part, level, unit, sign)
        for column in range(wiring.unit_pointers[unit], wiring.unit_pointers[unit + 1]):
            sent = levels[level - 1, wiring.unit_sources[column]]
            _add(part, level, wiring.unit_targets[column], sign * sent)


@njit(cache=True, nogil=True)
def node_differences(part: Part, node: int) -> None:
    """Fill δ_l for the flip of one node: it sends, or it does not, on the original edges."""
    sign = -1 if part.kept[part.counts[0], node] else 1
    _add(part, 0, node, sign)
    for level in range(1, part.levels.shape[1]):
        _carry(part, level, -1, sign)


@njit(cache=True, nogil=True)
def gain(part: Part) -> float:
    """The difference of the ego term that the filled δ makes, and of the count's normalisation by `count_gain`."""
    received, last = part.levels[part.counts[0], -1], part.levels.shape[1] - 1
    terms, total = part.terms, 0.0
    for place in range(part.sizes[last]):
        node = part.touched[last, place]
        before = 1.0 - received[node] * terms[node, INVERSE] - terms[node, STRENGTH]
        step = part.delta[last, node] * terms[node, INVERSE]
        # before² - (before - step)²
        total += terms[node, WEIGHT] * step * (2.0 * before - step)
    return total


@njit(cache=True, nogil=True)
def count_gain(part: Part, units: int, drops: bool) -> float:
    """-λ' times the change of log C(M, d) when one unit is dropped, or restored."""
    dropped = part.counts[1]
    if drops:
        return -part.numbers[0] * math.log((units - dropped) / (dropped + 1.0))
    return -part.numbers[0] * math.log(dropped / (units - dropped + 1.0))


@njit(cache=True, nogil=True)
def apply(part: Part, unit: int) -> None:
    """Make the flip whose δ is filled, and clear the scratch."""
    buffer = part.counts[0]
    for level in range(part.levels.shape[1]):
        for place in range(part.sizes[level]):
            node = part.touched[level, place]
            part.levels[buffer, level, node] += part.delta[level, node]
    part.known[0] = np.nan
    part.counts[1] += 1 if part.kept[buffer, unit] else -1
    part.kept[buffer, unit] = not part.kept[buffer, unit]
    clear(part)


@njit(cache=True, nogil=True)
def clear(part: Part) -> None:
    """Forget the filled δ."""
    for level in range(part.levels.shape[1]):
        for place in range(part.sizes[level]):
            node = part.touched[level, place]
            part.delta[level, node] = 0
        part.sizes[level] = 0
