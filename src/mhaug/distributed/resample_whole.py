"""The paper's move (Eq. 6) on a graph in parts: a new count, a fresh subset, one decision for all ranks."""

import math

import numpy as np

from mhaug.distributed.divided import DividedPart
from mhaug.distributed.tilt import log_subsets
from mhaug.sampling.compiled.counts import draw_count, keep_subset, log_mass


def resample_whole(state: DividedPart, step_size: float, *, shared: np.random.Generator) -> bool:
    """Whether the candidate was accepted. `shared` is read in step by all ranks."""
    count = draw_count(shared.random(), state.dropped, state.units, step_size)
    candidate = subset(state, count, shared=shared)
    ego = state.ego_term(candidate)
    accepted = math.log(max(shared.random(), 2.0**-54)) <= log_acceptance(state, count, ego, step_size)
    if accepted:
        state.put(candidate, ego)
    return accepted


def log_acceptance(state: DividedPart, count: int, ego: float, step_size: float) -> float:
    """log of the ratio in Eq. 7, for a candidate with this count and ego term."""
    units, given = state.units, state.dropped
    ratio = ego - state.own_ego_term()
    ratio += log_mass(given, count, units, step_size) - log_mass(count, given, units, step_size)
    # 1 / C(M, d) stands in the target with the power λ' and in the proposal with the power 1
    excess = 1.0 - state.count_weight
    return ratio + excess * (log_subsets(count, units) - log_subsets(given, units)) if excess else ratio


def subset(state: DividedPart, count: int, *, shared: np.random.Generator) -> np.ndarray:
    """A uniform subset of `count` dropped units: how many fall to each part, and then which of them.

    The numbers of a uniform subset that fall into given classes have the multivariate hypergeometric law, and given
    those numbers the classes' subsets are uniform and independent: each part draws its own.
    """
    counts = shared.multivariate_hypergeometric(state.sizes, count, method="marginals")
    changed = np.zeros(state.units, dtype=np.bool_)
    for number in state.world.share_of(state.parts):
        owned, rng = state.owned[number], state.streams[0].generator(number)
        if len(owned):
            kept = np.empty(len(owned), dtype=np.bool_)
            keep_subset(rng.random(len(owned)), int(counts[number]), kept, np.empty(len(owned)))
            changed[owned] = kept != state.kept[owned]
    return state.kept ^ state.world.union(changed)
