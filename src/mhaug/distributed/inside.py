"""The phase in which all parts move at once: flips and swaps of units whose footprint lies inside one part."""

import math

import numpy as np

from mhaug.distributed.decision import accepts
from mhaug.distributed.divided import DividedPart
from mhaug.distributed.tilt import draw_tilt, left_over
from mhaug.distributed.workplace import kinds
from mhaug.sampling.moves.mixture import blocks


def move_inside(
    state: DividedPart, turn: int, moves: float, flips: float, *, shared: np.random.Generator
) -> np.ndarray:
    """One phase under the layout `turn`: `moves` elementary moves a movable unit, a share `flips` of them flips.

    `shared` is read in step by all ranks. Gives how many moves of each kind were proposed and accepted, [3, 2].
    """
    units, weight, before = state.units, state.count_weight, state.dropped
    tilt = draw_tilt(before, units, weight, shared)
    changed, tally = np.zeros(units, dtype=np.bool_), np.zeros((3, 2), dtype=np.int64)
    for number, place in state.places[turn].items():
        rng = state.streams[turn].generator(number)
        place.load(state.kept)
        for size in blocks(math.ceil(moves * place.piece.movable)):
            tally += place.move(kinds(rng.random(size), flips), rng.random((size, 3)), tilt)
        changed[place.movable] = place.kept != state.kept[place.movable]
    old = state.kept
    state.put(old ^ state.world.union(changed))
    if weight not in (0.0, 1.0):
        ratio = left_over(state.dropped, units, weight) - left_over(before, units, weight)
        if not accepts(ratio, shared):
            state.put(old)
            tally[:, 1] = 0
    return tally
