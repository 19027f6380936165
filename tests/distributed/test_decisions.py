"""The loops that run take the decisions that their own weights ask for, move by move.

`test_exactness.py` proves the weights. Here each loop is replayed from the same random numbers by a decision written
out once more: a loop that accepted otherwise would walk elsewhere.
"""

import copy
import math

import numpy as np
import pytest

from distributed.test_exactness import chain_of
from mhaug.distributed import inside
from mhaug.distributed.inside import move_inside
from mhaug.distributed.local_moves import run_moves, settle_flip, settle_swap, weigh_flip, weigh_swap
from mhaug.distributed.resample_whole import log_acceptance, resample_whole, subset
from mhaug.sampling.compiled.counts import draw_count
from mhaug.sampling.compiled.steps import FLIP, SWAP

TILT, STEP_SIZE = -0.41, 0.23


class Recorded:
    """A generator that remembers its uniform numbers."""

    def __init__(self, seed=0):
        self._rng, self.uniforms = np.random.default_rng(seed), []

    def random(self):
        self.uniforms.append(self._rng.random())
        return self.uniforms[-1]

    def standard_gamma(self, shape):
        return self._rng.standard_gamma(shape)

    def binomial(self, *words):
        return self._rng.binomial(*words)


def replayed(place, kept, choices, local, tilt, of_edges):
    """Masks and counts of accepted moves, with every decision in plain Python."""
    kept, movable, accepted_moves = kept.copy(), place.movable, {FLIP: 0, SWAP: 0}
    for choice, (first, second, uniform) in zip(choices, local, strict=True):
        one, other = int(first * len(movable)), int(second * len(movable))
        place.load(kept)
        if choice == FLIP:
            accepted = math.log(uniform) <= weigh_flip(place.arrays, one, tilt, of_edges)
            settle_flip(place.arrays, one, False)
            turned = [one]
        elif kept[movable[one]] != kept[movable[other]]:
            accepted = math.log(uniform) <= weigh_swap(place.arrays, one, other, of_edges)
            settle_swap(place.arrays, one, other, False, of_edges)
            turned = [one, other]
        else:
            continue
        if accepted:
            kept[movable[turned]] ^= True
            accepted_moves[choice] += 1
    return kept, accepted_moves


@pytest.mark.parametrize("part", ["edges", "nodes"])
@pytest.mark.parametrize("name", ["two parts, a bridge", "three parts in a row", "two parts, directed"])
def test_moves_of_a_piece(name, part):
    state, _ = chain_of(name, 1 if part == "nodes" else 2, part)
    rng, seen = np.random.default_rng(1), np.zeros((3, 2), dtype=np.int64)
    for place in (place for turn in state.places for place in turn.values() if len(place.movable)):
        kept = rng.random(state.units) < 0.6
        choices, local = rng.choice([FLIP, SWAP], 400), rng.random((400, 3))
        expected, accepted = replayed(place, kept, choices, local, TILT, part == "edges")
        place.load(kept)
        tally = np.zeros((3, 2), dtype=np.int64)
        run_moves(place.arrays, place.piece.movable, choices, local, TILT, tally, part == "edges")
        assert np.array_equal(place.kept, expected[place.movable])
        assert {kind: tally[kind, 1] for kind in (FLIP, SWAP)} == accepted
        seen += tally
    # both answers were given, to both kinds
    for kind in (FLIP, SWAP):
        assert 0 < seen[kind, 1] < seen[kind, 0]


@pytest.mark.parametrize("count_weight", [1.0, 0.71])
def test_resamples_of_the_whole(count_weight):
    state, _ = chain_of("three parts in a row", 2, count_weight=count_weight)
    shared, answers = Recorded(), []
    for _ in range(200):
        before, streams = state.kept.copy(), copy.deepcopy(state.streams)
        again = copy.deepcopy(shared)
        accepted = resample_whole(state, STEP_SIZE, shared=shared)
        after = state.kept
        # the same candidate once more, from the same numbers
        state.put(before)
        later, state.streams = state.streams, streams
        count = draw_count(again.random(), state.dropped, state.units, STEP_SIZE)
        candidate = subset(state, count, shared=again)
        state.streams = later
        ratio = log_acceptance(state, count, state.ego_term(candidate), STEP_SIZE)
        assert accepted == (math.log(shared.uniforms[-1]) <= ratio)
        assert np.array_equal(after, candidate if accepted else before)
        state.put(after)
        answers.append(accepted)
    assert 0 < sum(answers) < len(answers)


def test_what_is_left_of_the_count_decides_a_phase(monkeypatch):
    """A term of 0.7 a dropped unit in place of the small one, so that both answers come up."""
    state, _ = chain_of("three parts in a row", 1, count_weight=0.71)
    shared, answers = Recorded(), []
    for _ in range(100):
        before, streams = state.kept.copy(), copy.deepcopy(state.streams)
        again = copy.deepcopy(shared)
        monkeypatch.setattr(inside, "left_over", lambda count, *_: 0.7 * count)
        tally = move_inside(state, 0, 1.0, 0.5, shared=shared)
        after = state.kept
        # the same moves once more, with nothing left over: they stand
        state.put(before)
        later, state.streams = state.streams, streams
        monkeypatch.setattr(inside, "left_over", lambda *_: 0.0)
        assert move_inside(state, 0, 1.0, 0.5, shared=again)[:, 0].tolist() == tally[:, 0].tolist()
        state.streams = later
        moved = state.kept
        ratio = 0.7 * (np.count_nonzero(~moved) - np.count_nonzero(~before))
        accepted = math.log(shared.uniforms[-1]) <= ratio
        assert np.array_equal(after, moved if accepted else before)
        assert accepted or not tally[:, 1].any()
        state.put(after)
        answers.append(accepted)
    assert 0 < sum(answers) < len(answers)
