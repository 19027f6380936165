"""Records as rows of a CSV file, without settings and curves."""

import csv
from collections.abc import Iterable
from pathlib import Path

from mhaug.experiments.record import RunRecord

_CELL = ("dataset", "backbone", "method", "seed", "split")
_SCORES = ("test_accuracy", "validation_accuracy", "last_test_accuracy", "test_macro_f1", "best_update")
_COURSE = ("updates", "steps", "acceptance_rate", "seconds", "device")


def write_rows(records: Iterable[RunRecord], path: Path) -> int:
    """Each record as a row; how many."""
    numbers = _SCORES + _COURSE
    rows = [[*(getattr(r.spec, name) for name in _CELL), *(getattr(r, name) for name in numbers)] for r in records]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[*_CELL, *numbers], *rows])
    return len(rows)
