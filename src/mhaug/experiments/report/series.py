"""Curves of several seeds as one: mean and band against updates."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mhaug.experiments.record import RunRecord
from mhaug.training.plan import every_setting

POINTS = 120  # more would not be seen at the size of a card


@dataclass(frozen=True)
class Series:
    """Mean, lowest and highest over seeds; each point is the mean of a few updates."""

    updates: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def series(records: Sequence[RunRecord], name: str) -> Series | None:
    """The curve `name`, up to the end of the shortest run; None where a run has none."""
    rows = [record.history.get(name, []) for record in records]
    length = min((len(row) for row in rows), default=0)
    if length == 0:
        return None
    values = np.array([row[:length] for row in rows], dtype=float)
    edges = np.linspace(0, length, min(POINTS, length) + 1).astype(int)
    starts, counts = edges[:-1], np.diff(edges)
    values = np.add.reduceat(values, starts, axis=1) / counts
    return Series(starts + (counts + 1) / 2, values.mean(0), values.min(0), values.max(0))


def names(records: Sequence[RunRecord], prefix: str) -> list[str]:
    """Curves of this prefix that all runs have."""
    first = records[0].history if records else {}
    return [n for n in first if n.startswith(prefix) and all(n in record.history for record in records)]


def strength(record: RunRecord, part: str) -> float | None:
    """μ of the edges or the nodes, which an old record may have left to the default; None without a target."""
    settings = every_setting(record.spec.backbone, record.spec.method, record.settings)
    return settings.get(f"{part}_strength")
