"""A sweep: datasets × backbones × methods × settings × seeds, minus what the store has already."""

import itertools
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from mhaug import checks
from mhaug.checks import RequestError
from mhaug.data.datasets import check_name
from mhaug.experiments.engines.engine import Engine, Outcome
from mhaug.experiments.record import RunRecord
from mhaug.experiments.spec import RunSpec
from mhaug.experiments.store import RunStore
from mhaug.methods.catalogue import METHODS


@dataclass(frozen=True)
class Sweep:
    """What is asked for. `grid` has lists of values, every combination of which is run; `settings` hold for all.

    `of_method` has settings for single methods, which override the common ones.
    """

    datasets: Sequence[str]
    backbones: Sequence[str] = ("gcn",)
    methods: Sequence[str] = ("mh-aug",)
    seeds: Sequence[int] = tuple(range(10))
    split: str = "public"
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    of_method: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def from_toml(cls, path: str | Path) -> "Sweep":
        """A file with these very names; a table [of_method.mh-aug] for settings of one method."""
        try:
            table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as wrong:  # no file, not TOML, not UTF-8
            raise RequestError(
                f"sweep must be a TOML file; got {str(path)!r} ({checks.one_line(str(wrong))})"
            ) from wrong
        for name in table:
            checks.one_of(name, "names in a sweep file", [each.name for each in fields(cls)])
        checks.require("datasets" in table, "datasets", "given: a list of names", None)
        for name in ("settings", "grid", "of_method"):
            checks.require(isinstance(table.get(name, {}), dict), name, f"a table [{name}]", table.get(name))
        for method, own in table.get("of_method", {}).items():
            checks.require(isinstance(own, dict), "of_method", f"a table [of_method.{method}]", own)
        return cls(**table)

    def specs(self) -> list[RunSpec]:
        """Every run, once; wrong names and settings are refused here, before anything is run."""
        lists = {name: getattr(self, name) for name in ("datasets", "backbones", "methods", "seeds")}
        for name, values in {**lists, **self.grid}.items():
            listed = isinstance(values, Sequence) and not isinstance(values, str) and len(values) > 0
            checks.require(listed, name, "a list of values", values)
        for dataset in self.datasets:
            check_name(dataset)
        for method in self.of_method:
            checks.one_of(method, "of_method", METHODS)
        combinations = [
            dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())
        ]
        cells = itertools.product(self.datasets, self.backbones, self.methods, combinations, self.seeds)
        specs = (
            RunSpec(dataset, backbone, method, seed, self.split, self._settings(method, own))
            for dataset, backbone, method, own, seed in cells
        )
        # settings of a method may override the grid
        return list(dict.fromkeys(specs))

    def _settings(self, method: str, own: dict[str, Any]) -> dict[str, Any]:
        mine = self.of_method.get(method, {}) if isinstance(method, str) else {}
        return {**self.settings, **own, **mine}


@dataclass
class Standing:
    """Where a sweep stands."""

    total: int
    done: int = 0
    failed: int = 0
    started: float = field(default_factory=time.monotonic)

    def seconds_left(self) -> float | None:
        """By the pace so far; None before the first outcome."""
        finished = self.done + self.failed
        pace = (time.monotonic() - self.started) / finished if finished else None
        return None if pace is None else pace * (self.total - finished)


def run_sweep(
    specs: Sequence[RunSpec],
    store: RunStore,
    engine: Engine,
    *,
    retry_failed: bool = False,
    report: Callable[[Standing, Outcome], None] | None = None,
) -> Standing:
    """Run what the store does not have. Each outcome is in the store before the next is waited for."""
    with store.alone():
        waiting = store.waiting(specs, retry_failed=retry_failed)
        standing = Standing(total=len(waiting))
        for outcome in engine.run(waiting):
            store.add(outcome)
            if isinstance(outcome, RunRecord):
                standing.done += 1
            else:
                standing.failed += 1
            if report is not None:
                report(standing, outcome)
    return standing
