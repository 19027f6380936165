"""Search of settings on validation accuracy alone, by Optuna: resumable, with the same budget for every method."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from mhaug import checks
from mhaug.checks import RequestError
from mhaug.data.datasets import check_name
from mhaug.experiments.engines.engine import Engine
from mhaug.experiments.record import RunRecord
from mhaug.experiments.search_space import search_space, suggest, within
from mhaug.experiments.spec import RunSpec
from mhaug.methods.presets import preset_settings

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class Search:
    """One cell of the table, and how much is spent on it.

    A trial is a setting, run on every seed; its value is the mean validation accuracy, and nothing else of a record
    is looked at. `settings` hold for all trials, as a shorter training does.
    """

    dataset: str
    backbone: str = "gcn"
    method: str = "mh-aug"
    trials: int = 40
    seeds: tuple[int, ...] = (0, 1, 2)
    split: str = "public"
    seed: int = 0  # of the sampler
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the study: one for each cell, in one journal."""
        return f"{self.dataset}/{self.backbone}/{self.method}"

    @property
    def what(self) -> dict[str, Any]:
        """All that the value of a trial depends on beside its settings."""
        return {"seeds": list(self.seeds), "split": self.split, "settings": dict(self.settings)}

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
    """Finish the trials that the journal does not have. `at_once` trials are asked for before any is told.

    The first trial is the preset. Several programs may work on one journal; each stops when the trials are through.
    """
    optuna = _optuna()
    whole = search_space(search.backbone, search.method)
    space = {name: choice for name, choice in whole.items() if name not in search.settings}
    study = open_study(search, journal)
    if not study.trials:
        presets = preset_settings(search.dataset, search.backbone, search.method)
        study.enqueue_trial(within(presets, space))
    while (left := search.trials - _finished(study)) > 0:
        asked = {}
        for _ in range(min(at_once, left)):
            trial = study.ask()
            asked[trial.number] = (trial, search.specs(suggest(trial, space)))
        owner = {spec: number for number, (_, specs) in asked.items() for spec in specs}
        found: dict[int, list[float]] = {number: [] for number in asked}
        for outcome in engine.run(list(owner)):
            number = owner[outcome.spec]
            if isinstance(outcome, RunRecord):
                found[number].append(outcome.validation_accuracy)
            else:
                asked[number][0].set_user_attr("error", outcome.error)
        for number, (trial, specs) in asked.items():
            finished = len(found[number]) == len(set(specs))
            # a setting that broke a run is no setting to choose
            state = optuna.trial.TrialState.COMPLETE if finished else optuna.trial.TrialState.FAIL
            study.tell(trial, mean(found[number]) if finished else None, state=state)
        if report is not None:
            report(study)
    return study


def open_study(search: Search, journal: str | Path) -> "optuna.Study":
    """The study of this cell in the journal, begun if need be."""
    optuna = _optuna()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    Path(journal).parent.mkdir(parents=True, exist_ok=True)
    _check_journal(Path(journal))
    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(journal)))
    study = optuna.create_study(study_name=search.name, storage=storage, direction="maximize", load_if_exists=True)
    # values of other seeds or settings cannot be compared with ours
    known = study.user_attrs.get("what", search.what)
    checks.require(known == search.what, "study", f"gone on with as it was begun, {known}", search.what)
    if not study.trials:
        study.set_user_attr("what", search.what)
    # a search that goes on must not draw the numbers of its beginning again
    seed = search.seed + len(study.trials)
    study.sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True)
    return study


def _check_journal(path: Path) -> None:
    """Optuna appends to whatever file it is given; ours has to look like a journal."""
    try:
        with path.open(encoding="utf-8") as file:
            fits = "op_code" in json.loads(file.readline() or '{"op_code": 0}')
    except FileNotFoundError:
        return
    except (OSError, ValueError):
        fits = False
    checks.require(fits, "study", "a journal of `mhaug tune` or a new path", str(path))


def _finished(study: "optuna.Study") -> int:
    """Trials that were run to their end, well or badly; those of a killed program are run anew."""
    return sum(trial.state.is_finished() for trial in study.trials)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as missing:
        raise RequestError("tune needs the package optuna: pip install 'mhaug[tune]'") from missing
    return optuna
