"""What `mhaug train` says of its runs: a row for each, and their means."""

import math
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING

from mhaug.cli.percent import NOTHING, percent

if TYPE_CHECKING:
    from mhaug.experiments.record import RunRecord
    from mhaug.experiments.spec import RunSpec
    from mhaug.objectives.non_finite import NonFiniteLossError

_COLUMNS = {
    "seed": 6,
    "validation": 12,
    "test": 8,
    "macro-F1": 10,
    "best at": 9,
    "updates": 9,
    "accepted": 10,
    "seconds": 9,
}
HEAD = "".join(f"{name:>{width}}" for name, width in _COLUMNS.items())
NO_VALIDATION = "no validation nodes (val_mask): the last update's weights are kept"


def row(record: "RunRecord") -> str:
    """One run."""
    accuracies = (record.validation_accuracy, record.test_accuracy, record.test_macro_f1)
    words = [percent(share) for share in accuracies]
    accepted = percent(record.acceptance_rate, 1) if _has_chain(record) else NOTHING
    counts = [str(record.best_update), str(record.updates), accepted, f"{record.seconds:.1f}"]
    cells = [str(record.spec.seed), *words, *counts]
    return "".join(f"{cell:>{width}}" for cell, width in zip(cells, _COLUMNS.values(), strict=True))


def means(records: "list[RunRecord]") -> str:
    """All runs."""
    tests, validations = [r.test_accuracy for r in records], [r.validation_accuracy for r in records]
    both = f"{percent(mean(validations)):>12}{percent(mean(tests)):>8}"
    return f"{'mean':>6}{both} ± {percent(spread(tests))} over {len(records)} seeds"


def spread(tests: list[float]) -> float:
    """The standard deviation; Python's own fails where a graph has no test nodes."""
    return math.nan if any(map(math.isnan, tests)) else stdev(tests)


def lost(spec: "RunSpec", error: "NonFiniteLossError", out: Path | None) -> "NonFiniteLossError":
    """A loss that was no number, and what to try. The fit's own words on weights are for who holds the model."""
    happened = str(error).partition("; the model keeps")[0]
    smaller = f"--set learning_rate={spec.plan().config.learning_rate / 10:g}"
    # with other settings it is another run
    return type(error)(
        f"{happened}; try a smaller learning rate ({smaller}{'' if out is None else ' and another --out'})"
    )


def _has_chain(record: "RunRecord") -> bool:
    """Whether there is anything to accept: without a chain every proposal counts as accepted."""
    from mhaug.methods.catalogue import METHODS
    from mhaug.methods.chain_method import ChainMethod

    method = METHODS[record.spec.method]
    return isinstance(method, type) and issubclass(method, ChainMethod)
