"""A random walk on counts: a normal around the current ratio, truncated to [0, 1], rounded to whole units (Eq. 6).

Rounding, never flooring, and masses, never densities: `log_mass` is then the probability of exactly what `draw`
does, and detailed balance holds to the last digit. A count owns the ratios that round to it; the two extreme counts
own half an interval each.
"""

import torch
from torch import Tensor

from mhaug.per_replica import PerReplica


def log_mass(count: Tensor, *, given: Tensor, units: int, step_size: PerReplica) -> Tensor:
    """log of the probability of going from `given` to `count` dropped units, out of `units`."""
    if units == 0:
        return torch.zeros_like(count, dtype=torch.float64)
    centre = given.double() / units
    low = ((count.double() - 0.5) / units).clamp(min=0.0)
    high = ((count.double() + 0.5) / units).clamp(max=1.0)
    mass = log_interval((low - centre) / step_size, (high - centre) / step_size)
    return mass - log_interval(-centre / step_size, (1.0 - centre) / step_size)


def draw(uniform: Tensor, *, given: Tensor, units: int, step_size: PerReplica) -> Tensor:
    """The count that a uniform number in [0, 1) stands for, by inversion. Whole numbers, like `given`."""
    centre = given.double() / units if units else given.double()
    below, above = torch.special.ndtr(-centre / step_size), torch.special.ndtr((1.0 - centre) / step_size)
    # a uniform number of exactly 0 stands for (0, 2^-53); read as 0 it would jump to the end of the tail
    quantile = (below + uniform * (above - below)).clamp(min=2.0**-54)
    ratio = centre + step_size * torch.special.ndtri(quantile)
    return (ratio.clamp(0.0, 1.0) * units).round().long()


def log_interval(low: Tensor, high: Tensor) -> Tensor:
    """log(Φ(high) - Φ(low)), without loss in either tail: intervals on the right are mirrored to the left."""
    mirrored = low > 0
    low, high = torch.where(mirrored, -high, low), torch.where(mirrored, -low, high)
    log_high = torch.special.log_ndtr(high)
    return log_high + torch.log(-torch.expm1(torch.special.log_ndtr(low) - log_high))
