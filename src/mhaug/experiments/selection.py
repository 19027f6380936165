"""Which update of a run is taken, by its validation curves: the paper's rule, and steadier ones.

The first best of 2,000 validation accuracies is the largest of many noisy numbers: what it finds is partly luck.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mhaug import checks

WINDOW = 50  # updates that are averaged over; noise of single updates is gone, and training hardly moves meanwhile

History = Mapping[str, Sequence[float]]


def chosen_update(history: History, rule: str) -> int:
    """The update (from 0) that a rule of `RULES` takes."""
    checks.one_of(rule, "rule", RULES)
    accuracy = np.asarray(history["validation_accuracy"], dtype=float)
    if rule == "best":
        return int(accuracy.argmax())
    if rule == "last":
        return len(accuracy) - 1
    if rule == "smoothed":
        return int(smoothed(accuracy).argmax())
    return int(smoothed(np.asarray(history["validation_loss"], dtype=float)).argmin())


RULES = {
    "best": "the first best validation accuracy (the paper's)",
    "smoothed": f"the first best mean of {WINDOW} validation accuracies",
    "loss": f"the smallest mean of {WINDOW} validation losses",
    "last": "the last update",
}


def accuracy_by(history: History, rule: str) -> float:
    """Test accuracy at the update that a rule takes."""
    return float(history["test_accuracy"][chosen_update(history, rule)])


def validation_by(history: History, value: str) -> float:
    """Validation accuracy that settings are compared by: the best single one, or the best mean of `WINDOW`."""
    checks.one_of(value, "value", VALUES)
    accuracy = np.asarray(history["validation_accuracy"], dtype=float)
    return float((accuracy if value == "best" else smoothed(accuracy)).max())


VALUES = ("best", "smoothed")


def smoothed(curve: NDArray[np.float64], window: int = WINDOW) -> NDArray[np.float64]:
    """Mean of the `window` updates around each one; fewer at the ends."""
    checks.whole_number(window, "window", 1)
    sums = np.concatenate([[0.0], np.cumsum(curve)])
    places = np.arange(len(curve))
    low, high = np.maximum(places - window // 2, 0), np.minimum(places + (window + 1) // 2, len(curve))
    # rounded, so that equal windows tie whatever came before them
    return np.asarray(np.round((sums[high] - sums[low]) / (high - low), 9))
