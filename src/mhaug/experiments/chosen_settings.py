"""Which runs stand behind a cell: where several settings were tried, validation accuracy chooses. Never test."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import fmean

from mhaug.experiments.record import RunRecord
from mhaug.experiments.run_key import completed

BySeed = dict[int, RunRecord]


@dataclass(frozen=True)
class Choice:
    """The runs of one setting, by seed, and how many settings they were chosen from."""

    records: tuple[RunRecord, ...]
    compared: int  # settings with as many seeds as any
    left_aside: int  # settings with fewer seeds: a mean over fewer splits is not comparable


def choose(records: Sequence[RunRecord]) -> Choice:
    """The setting of best mean validation accuracy, among those that ran on the most seeds; ties to the first.

    Means are taken over the seeds that these share. Smoothed accuracies are compared where all runs have them: the
    best single ones favour settings that scatter.
    """
    groups: dict[str, BySeed] = {}
    for record in records:
        group = groups.setdefault(json.dumps(completed(record), sort_keys=True), {})
        # a run that was repeated counts once; one that came with its curves is not lost to one that did not
        if record.history or record.spec.seed not in group:
            group[record.spec.seed] = record
    most = max(len(group) for group in groups.values())
    full = [group for group in groups.values() if len(group) == most]
    shared = set.intersection(*(set(group) for group in full))
    number = _number_of(full)
    best = max(full, key=lambda group: _mean([number(group[seed]) for seed in shared or set(group)]))
    return Choice(tuple(best[seed] for seed in sorted(best)), len(full), len(groups) - len(full))


def _number_of(groups: list[BySeed]) -> Callable[[RunRecord], float]:
    """What is compared: the steadier number, if no run lacks it."""
    smoothed, best = (attrgetter(f"{kind}validation_accuracy") for kind in ("smoothed_", ""))
    lacks = any(math.isnan(smoothed(record)) for group in groups for record in group.values())
    return best if lacks else smoothed


def _mean(numbers: Sequence[float]) -> float:
    mean = fmean(numbers)
    return -math.inf if math.isnan(mean) else mean
