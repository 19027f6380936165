"""Search of settings on validation accuracy alone, by Optuna: resumable, with the same budget for every method."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from mhaug import checks
from mhaug.data.datasets import check_name
from mhaug.experiments.engines.engine import Engine
from mhaug.experiments.record import RunRecord
from mhaug.experiments.search_space import Space, search_space, widened
from mhaug.experiments.selection import VALUES
from mhaug.experiments.spec import RunSpec
from mhaug.experiments.store import Failure
from mhaug.experiments.study import ERROR, ask, give_up, open_study
from mhaug.methods.presets import preset_settings
from mhaug.training.plan import every_setting

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class Search:
    """One cell of the table, and how much is spent on it.

    A trial is a setting, run on every seed; its value is a mean over seeds of validation accuracies, and nothing else
    of a record is looked at. `settings` hold for all trials, as a shorter training does.
    """

    dataset: str
    backbone: str = "gcn"
    method: str = "mh-aug"
    trials: int = 40
    seeds: tuple[int, ...] = (0, 1, 2)
    split: str = "public"
    seed: int = 0  # of the sampler
    settings: Mapping[str, Any] = field(default_factory=dict)
    value: str = "best"  # of a run: its best validation accuracy, or ("smoothed") its best mean of 50 successive ones

    def __post_init__(self) -> None:
        checks.one_of(self.value, "value", VALUES)

    @property
    def name(self) -> str:
        """Of the study: one for each cell, in one journal."""
        return f"{self.dataset}/{self.backbone}/{self.method}"

    @property
    def named(self) -> dict[str, Any]:
        """What presets and `settings` say."""
        return {**preset_settings(self.dataset, self.backbone, self.method), **self.settings}

    def space(self) -> Space:
        """What is searched: all that the method's space lists and `settings` leave open, and the presets in it."""
        whole = search_space(self.backbone, self.method)
        free = {name: choice for name, choice in whole.items() if name not in self.settings}
        return widened(free, every_setting(self.backbone, self.method, self.named))

    def preset(self) -> dict[str, Any]:
        """The place in the space where the search begins: presets, and defaults where they say nothing."""
        whole = every_setting(self.backbone, self.method, self.named)
        return {name: whole[name] for name in self.space()}

    def what(self) -> dict[str, Any]:
        """All that the value of a trial depends on beside what was searched, and what could be."""
        space = self.space()
        fixed = {name: value for name, value in self.named.items() if name not in space}
        what = {"seeds": list(self.seeds), "split": self.split, "settings": fixed, "space": space}
        # journals of before there was a choice do not name it
        return what if self.value == "best" else {**what, "value": self.value}

    def specs(self, chosen: Mapping[str, Any]) -> list[RunSpec]:
        """The runs of one trial; wrong names are refused."""
        check_name(self.dataset)
        settings = {**chosen, **self.settings}
        return [RunSpec(self.dataset, self.backbone, self.method, seed, self.split, settings) for seed in self.seeds]


def tune(
    search: Search,
    journal: str | Path,
    engine: Engine,
    *,
    at_once: int = 1,
    report: "Callable[[optuna.Study], None] | None" = None,
) -> "optuna.Study":
    """Run the trials that the journal does not have. `at_once` trials are asked for before any is told.

    The first trial is the presets. Several programs may work on one journal: each leaves to the others what they are
    at, and stops when no trial is left to ask for. Trials of a killed program are begun anew.
    """
    study, space, preset = open_study(search.name, Path(journal), search.what()), search.space(), search.preset()
    limits = {"budget": search.trials, "most": at_once, "seed": search.seed}
    while asked := ask(study, Path(journal), space, preset, **limits):
        try:
            _run(study, search, asked, engine)
        finally:
            # of those that were told this is not heard
            for trial in asked:
                give_up(study, trial.number)
        if report is not None:
            report(study)
    return study


def _run(study: "optuna.Study", search: Search, asked: "Sequence[optuna.Trial]", engine: Engine) -> None:
    """Run the trials and tell the study what they gave."""
    specs = {trial.number: search.specs(trial.params) for trial in asked}
    found = {outcome.spec: outcome for outcome in engine.run(list(dict.fromkeys(chain(*specs.values()))))}
    for trial in asked:
        outcomes = [found.get(spec) for spec in specs[trial.number]]
        values = [_value(outcome, search.value) for outcome in outcomes if isinstance(outcome, RunRecord)]
        if len(values) == len(outcomes) and all(map(math.isfinite, values)):
            study.tell(trial, mean(values), skip_if_finished=True)
        else:
            # a setting that broke a run is no setting to choose
            errors = [outcome.error for outcome in outcomes if isinstance(outcome, Failure)]
            trial.set_user_attr(ERROR, (errors or ["a run gave no validation accuracy"])[-1])
            give_up(study, trial.number)


def _value(record: RunRecord, value: str) -> float:
    return record.validation_accuracy if value == "best" else record.smoothed_validation_accuracy
