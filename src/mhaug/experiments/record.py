"""`RunRecord`: what a run gave, and what it ran on."""

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from mhaug.experiments.spec import RunSpec
from mhaug.training.result import FitResult

PACKAGES = ("mhaug", "torch", "torch_geometric", "numpy", "numba")


@dataclass(frozen=True)
class RunRecord:
    """Accuracies are shares in [0, 1], at the first best validation accuracy."""

    spec: RunSpec
    settings: dict[str, Any]  # presets and overrides, as they were on the day
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

    @classmethod
    def of(cls, spec: RunSpec, result: FitResult, *, device: str, ranks: int = 1) -> "RunRecord":
        """Put the result of a fit beside what it came from."""
        numbers: dict[str, Any] = {**asdict(result), "device": device, "ranks": ranks}
        return cls(spec=spec, settings=spec.all_settings(), versions=versions(), **numbers)

    def to_json(self, *, history: bool = True) -> dict[str, Any]:
        """Plain JSON; the curves may be left out."""
        record = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "history"}
        record["spec"] = self.spec.to_json()
        return {**record, "history": self.history} if history else record

    @classmethod
    def from_json(cls, record: str | Mapping[str, Any]) -> "RunRecord":
        """What `to_json` wrote, as text or as an object."""
        record = json.loads(record) if isinstance(record, str) else record
        return cls(**{"history": {}, **record, "spec": RunSpec.from_json(record["spec"])})


def versions() -> dict[str, str]:
    """Versions of what the run stands on."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return found
