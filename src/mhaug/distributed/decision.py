"""A Metropolis decision that all ranks take alike, from the stream that they share."""

import math

import numpy as np


def accepts(log_ratio: float, shared: np.random.Generator) -> bool:
    """Whether a candidate with this log of the ratio is taken; never where it is NaN."""
    # the number can be 0, which has no logarithm
    return math.log(max(shared.random(), 2.0**-54)) <= log_ratio
