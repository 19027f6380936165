"""The walk on counts (`truncated_normal.py`) and the uniform subset, in compiled loops."""

import math

import numpy as np
from numba import njit

_ROOT_HALF = math.sqrt(0.5)


@njit(cache=True, nogil=True)
def _upper(x: float) -> float:
    """1 - Φ(x)."""
    return 0.5 * math.erfc(x * _ROOT_HALF)


@njit(cache=True, nogil=True)
def interval(low: float, high: float) -> float:
    """Φ(high) - Φ(low), without loss in the right tail; the left one is mirrored."""
    if high < 0:
        low, high = -high, -low
    return _upper(low) - _upper(high)


@njit(cache=True, nogil=True)
def log_mass(count: int, given: int, units: int, step_size: float) -> float:
    """log of the probability of going from `given` to `count`."""
    centre = given / units
    low, high = max((count - 0.5) / units, 0.0), min((count + 0.5) / units, 1.0)
    mass = interval((low - centre) / step_size, (high - centre) / step_size)
    return math.log(mass) - math.log(interval(-centre / step_size, (1.0 - centre) / step_size))


@njit(cache=True, nogil=True)
def log_subsets(units: int, dropped: int) -> float:
    """log C(M, d), as in `target.py`."""
    return math.lgamma(units + 1.0) - math.lgamma(dropped + 1.0) - math.lgamma(units - dropped + 1.0)


@njit(cache=True, nogil=True)
def quantile(p: float) -> float:
    """Φ⁻¹(p), to the last digit: a rational start, then Halley's steps."""
    if p > 0.5:
        return -quantile_left(1.0 - p)
    return quantile_left(p)


@njit(cache=True, nogil=True)
def quantile_left(p: float) -> float:
    """Φ⁻¹(p) for p <= 1/2."""
    if p == 0.5:
        return 0.0
    # Hastings' start, good to 5e-4
    t = math.sqrt(-2.0 * math.log(p))
    x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))))
    for _ in range(3):
        density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
        step = (_upper(-x) - p) / density
        # Halley: Φ'' = -x Φ'
        x -= step / (1.0 + 0.5 * x * step)
    return x


@njit(cache=True, nogil=True)
def draw_count(uniform: float, given: int, units: int, step_size: float) -> int:
    """The count that a uniform number stands for, by inversion."""
    centre = given / units
    below, above = _upper(centre / step_size), _upper(-(1.0 - centre) / step_size)
    p = max(below + uniform * (above - below), 2.0**-54)
    ratio = centre + step_size * quantile(p)
    return round(min(max(ratio, 0.0), 1.0) * units)


@njit(cache=True, nogil=True)
def keep_subset(keys: np.ndarray, dropped: int, kept: np.ndarray, window: np.ndarray) -> None:
    """Drop the units with the `dropped` smallest keys, in one pass and a sort of the few keys near the threshold."""
    units = len(keys)
    if dropped == 0 or dropped == units:
        kept[:units] = dropped == 0
        return
    share = dropped / units
    reach = 4.0 * math.sqrt(share * (1.0 - share) / units) + 1.0 / units
    low, high, below, inside = share - reach, share + reach, 0, 0
    for unit in range(units):
        below += keys[unit] < low
        window[inside] = keys[unit]
        inside += (keys[unit] >= low) & (keys[unit] < high)
        # the entry after the last is scratch
        inside = min(inside, units - 1)
    rank = dropped - below
    if rank < 1 or rank > inside or inside == units - 1:
        threshold = np.partition(keys, dropped - 1)[dropped - 1]
    else:
        threshold = np.partition(window[:inside], rank - 1)[rank - 1]
    count = 0
    for unit in range(units):
        kept[unit] = keys[unit] > threshold
        count += keys[unit] <= threshold
    # equal keys: the first ones are dropped, as a stable sort would
    unit = units - 1
    while count > dropped:
        if keys[unit] == threshold:
            kept[unit] = True
            count -= 1
        unit -= 1
