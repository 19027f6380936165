"""Whether two methods differ: the paired signed-rank test over seeds."""

from collections.abc import Mapping

import numpy as np

LEVEL = 0.05
PAIRS = 6  # with fewer no difference gets below LEVEL: the smallest value is 2 / 2^pairs


def paired_p_value(mine: Mapping[int, float], theirs: Mapping[int, float]) -> float | None:
    """Two-sided Wilcoxon signed-rank over the seeds that both have; None with fewer than two.

    With fewer than `PAIRS` it says nothing, and is not shown.
    """
    seeds = sorted(mine.keys() & theirs.keys())
    # equal steps of accuracy must tie: 0.826 - 0.816 and 0.816 - 0.806 differ in the last bits
    differences = np.round([mine[seed] - theirs[seed] for seed in seeds], 9)
    if len(seeds) < 2 or not np.isfinite(differences).all():
        return None
    return signed_rank_p_value(differences[differences != 0])


def signed_rank_p_value(differences: np.ndarray) -> float:
    """Exact with ties too, where scipy's `wilcoxon` walks through all signs and takes a tenth of a second."""
    from scipy.stats import rankdata

    ranks = (2 * rankdata(np.abs(differences))).astype(int)  # doubled: those of ties are halves
    chance = np.zeros(ranks.sum() + 1)  # of each sum of positive ranks, when every sign is a toss
    chance[0] = 1.0
    for rank in ranks:
        with_rank = np.zeros_like(chance)
        with_rank[rank:] = chance[:-rank]
        chance = (chance + with_rank) / 2
    positive = int(ranks[differences > 0].sum())
    return float(min(1.0, 2 * min(chance[: positive + 1].sum(), chance[positive:].sum())))
