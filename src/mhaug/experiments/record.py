"""`RunRecord`: what a run gave, and what it ran on."""

import json
import math
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mhaug.experiments.plain_json import number, plain
from mhaug.experiments.selection import validation_by
from mhaug.experiments.spec import RunSpec
from mhaug.training.result import FitResult

PACKAGES = ("mhaug", "torch", "torch_geometric", "numpy", "numba")
# a graph without test nodes has no test accuracy
_NUMBERS = (
    "test_accuracy",
    "validation_accuracy",
    "smoothed_validation_accuracy",
    "test_macro_f1",
    "validation_macro_f1",
    "last_test_accuracy",
)


@dataclass(frozen=True)
class RunRecord:
    """Accuracies are shares in [0, 1], at the first best validation accuracy.

    `smoothed_validation_accuracy` is the best mean of 50 successive ones: the largest of 2,000 noisy numbers is the
    larger the more they scatter, which is no merit of the settings. Records of earlier versions do not have it.
    """

    spec: RunSpec
    settings: dict[str, Any]  # all of them, as they were on the day; without defaults in records of earlier versions
    test_accuracy: float
    validation_accuracy: float
    test_macro_f1: float
    validation_macro_f1: float
    last_test_accuracy: float
    best_update: int
    updates: int
    steps: int
    acceptance_rate: float
    seconds: float
    device: str
    versions: dict[str, str]
    history: dict[str, list[float]]
    ranks: int = 1
    smoothed_validation_accuracy: float = math.nan

    @classmethod
    def of(cls, spec: RunSpec, result: FitResult, *, device: str, ranks: int = 1) -> "RunRecord":
        """Put the result of a fit beside what it came from."""
        numbers: dict[str, Any] = {**asdict(result), "device": device, "ranks": ranks}
        if result.updates:
            numbers["smoothed_validation_accuracy"] = validation_by(result.history, "smoothed")
        return cls(spec=spec, settings=plain(spec.all_settings()), versions=versions(), **numbers)

    def to_json(self, *, history: bool = True) -> dict[str, Any]:
        """Plain JSON, with null for what is not a number; the curves may be left out."""
        record = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "history"}
        record["spec"] = self.spec.to_json()
        whole: dict[str, Any] = plain({**record, "history": self.history} if history else record)
        return whole

    @classmethod
    def from_json(cls, record: str | Mapping[str, Any]) -> "RunRecord":
        """What `to_json` wrote, as text or as an object; names of other versions are passed over."""
        record = json.loads(record) if isinstance(record, str) else record
        known: dict[str, Any] = {each.name: record[each.name] for each in fields(cls) if each.name in record}
        known |= {name: number(known[name]) for name in _NUMBERS if name in known}
        curves = {name: [number(value) for value in curve] for name, curve in known.get("history", {}).items()}
        return cls(**{**known, "history": curves, "spec": RunSpec.from_json(record["spec"])})


def versions() -> dict[str, str]:
    """Versions of what the run stands on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return found
