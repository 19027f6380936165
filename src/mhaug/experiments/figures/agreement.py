"""Do chains agree with probabilities found without them? Differences in standard errors, and their limits."""

import math

import numpy as np
from scipy.stats import f, t

from mhaug.experiments.figures.request import Record, at_most

FALSE_ALARM = 1e-3


def compared(by_chain: np.ndarray, reference: Record) -> Record:
    """By chain [chains, M] against the target; standard errors from chain to chain, since they share nothing."""
    mean, error = by_chain.mean(0), by_chain.std(0, ddof=1) / math.sqrt(len(by_chain))
    difference = mean - np.array(reference["target"])
    errors = np.hypot(error, reference["target_error"])
    return {
        "chain": mean.tolist(),
        "chain_error": error.tolist(),
        "largest_difference": float(np.abs(difference).max()),
        "root_mean_square_difference": float(np.sqrt((difference**2).mean())),
        "largest_in_errors": float((np.abs(difference) / errors).max()),
        "root_mean_square_in_errors": float(np.sqrt(((difference / errors) ** 2).mean())),
    }


def agreement_claims(words: str, row: Record, chains: int) -> list[Record]:
    """The limits that agreement keeps but by chance: each difference has about the law of Student's t."""
    edges, freedom = len(row["chain"]), chains - 1
    # one edge of all is further off than this once in 1 / FALSE_ALARM figures
    limit = round(float(t.isf(FALSE_ALARM / (2 * edges), freedom)), 1)
    # squares of Student's t are F: five standard deviations above their mean
    mean, variance = f.stats(1, freedom, moments="mv")
    together = round(math.sqrt(mean + 5 * math.sqrt(variance / edges)), 2)
    return [
        at_most(f"{words}: largest distance of chain and target, in errors", row["largest_in_errors"], limit),
        at_most(f"{words}: its root mean square over edges", row["root_mean_square_in_errors"], together),
    ]
