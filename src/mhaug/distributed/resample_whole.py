"""The paper's move (Eq. 6) on a graph in parts: a new count, a fresh subset, one decision for all ranks."""

import numpy as np

from mhaug.distributed.decision import accepts
from mhaug.distributed.divided import DividedPart
from mhaug.sampling.compiled.counts import draw_count, keep_subset, log_mass, log_subsets


def resample_whole(state: DividedPart, step_size: float, *, shared: np.random.Generator) -> bool:
    """Whether the candidate was accepted. `shared` is read in step by all ranks."""
    count = draw_count(shared.random(), state.dropped, state.units, step_size)
    candidate = subset(state, count, shared=shared)
    ego = state.ego_term(candidate)
    accepted = accepts(log_acceptance(state, count, ego, step_size), shared)
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
    return ratio + excess * (log_subsets(units, count) - log_subsets(units, given)) if excess else ratio


def subset(state: DividedPart, count: int, *, shared: np.random.Generator) -> np.ndarray:
    """A uniform subset of `count` dropped units: how many fall to each part, and then which of them.

    Given how many, the parts' subsets are uniform and independent: each part draws its own.
    """
    counts = counts_of_parts(np.array(state.sizes), count, shared)
    changed = np.zeros(state.units, dtype=np.bool_)
    for number in state.world.share_of(state.parts):
        owned, rng = state.owned[number], state.streams[0].generator(number)
        if len(owned):
            kept = np.empty(len(owned), dtype=np.bool_)
            keep_subset(rng.random(len(owned)), int(counts[number]), kept, np.empty(len(owned)))
            changed[owned] = kept != state.kept[owned]
    return state.kept ^ state.world.union(changed)


def counts_of_parts(sizes: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """How many units of a uniform subset of `count` fall to each part: the multivariate hypergeometric law.

    Drop each unit for itself with probability count / units: that is a binomial number a part, and all subsets of the
    size that it happens to have are as likely. Then draw uniformly which of the dropped to restore, or of the kept to
    drop, until there are `count`: by symmetry all subsets of that size are as likely still. NumPy's own draw of this
    law refuses more than 10⁹ units, as it takes differences of log-factorials; here there are none.
    """
    dropped = rng.binomial(sizes, count / sizes.sum())
    surplus = int(dropped.sum()) - count
    pool = dropped if surplus > 0 else sizes - dropped
    size, turned = int(pool.sum()), set[int]()
    while len(turned) < abs(surplus):
        turned.add(int(rng.random() * size))
    # the pool is numbered part by part
    parts = np.searchsorted(pool.cumsum(), list(turned), side="right")
    return dropped - np.sign(surplus) * np.bincount(parts, minlength=len(sizes))
