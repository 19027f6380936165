"""The one coupling between partitions, the count, taken apart by a number that all ranks share during a phase.

The count enters P as C(M, d)^-λ'. Draw θ from Beta(λ'd + 1, λ'(M - d) + 1) and give each dropped unit the weight
θ / (1 - θ) to the power λ': under these weights units know nothing of the count. The density of θ brings exactly
θ^(λ'd) (1 - θ)^(λ'(M - d)) / B(λ'd + 1, λ'(M - d) + 1); what is left over,

    r(d) = -λ' log C(M, d) - log B(λ'd + 1, λ'(M - d) + 1),

is a constant for λ' = 0 and λ' = 1, and almost one otherwise. So whatever flips did under these weights is accepted
as a whole with probability min(1, exp(r(d') - r(d))), and P stays invariant. `docs/distributed.md` has the argument.
"""

import math

import numpy as np

from mhaug.sampling.compiled.counts import log_subsets


def draw_tilt(dropped: int, units: int, count_weight: float, rng: np.random.Generator) -> float:
    """λ' log(θ / (1 - θ)): what a dropped unit adds to log P during one phase."""
    # a ratio of two gamma variables has the law of θ / (1 - θ), and never rounds to 0 / 0
    first = rng.standard_gamma(count_weight * dropped + 1.0)
    second = rng.standard_gamma(count_weight * (units - dropped) + 1.0)
    return count_weight * (math.log(first) - math.log(second))


def left_over(dropped: int, units: int, count_weight: float) -> float:
    """r(d), the part of the count's term that the tilt does not carry."""
    if count_weight in (0.0, 1.0):
        return 0.0
    beta = _log_beta(count_weight * dropped + 1.0, count_weight * (units - dropped) + 1.0)
    return -count_weight * log_subsets(units, dropped) - beta


def _log_beta(alpha: float, beta: float) -> float:
    return math.lgamma(alpha) + math.lgamma(beta) - math.lgamma(alpha + beta)
