"""The journal of a search, which several programs may work on: who runs which trial, and how many are left."""

import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mhaug import checks
from mhaug.checks import RequestError
from mhaug.experiments.search_space import Space, suggest

if TYPE_CHECKING:
    import optuna

PROGRAM, PRESET, ERROR, WHAT = "program", "preset", "error", "what"  # what the journal notes beside trials
LONGEST = timedelta(days=1)  # of a trial that another machine has


def optuna_package() -> Any:
    """Optuna, asked for by name where it is missing."""
    try:
        import optuna
    except ImportError as missing:
        raise RequestError("tune needs the package optuna: pip install 'mhaug[tune]'") from missing
    return optuna


def open_study(name: str, journal: Path, what: Mapping[str, Any]) -> "optuna.Study":
    """The study of this name in the journal, begun if need be; `what` its values depend on must be the same."""
    optuna = optuna_package()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    journal.parent.mkdir(parents=True, exist_ok=True)
    _check_journal(journal)
    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(journal)))
    study = optuna.create_study(study_name=name, storage=storage, direction="maximize", load_if_exists=True)
    mine = json.loads(json.dumps(what))
    if not study.trials:
        study.set_user_attr(WHAT, mine)
    # values of other seeds or settings cannot be compared with ours
    known = study.user_attrs.get(WHAT, mine)
    other = {key: value for key, value in known.items() if mine.get(key) != value}
    asked = {key: value for key, value in mine.items() if known.get(key) != value}
    checks.require(not (other or asked), "study", f"gone on with as it was begun, {other}", asked)
    return study


def ask(
    study: "optuna.Study",
    journal: Path,
    space: Space,
    preset: Mapping[str, Any],
    *,
    budget: int,
    most: int,
    seed: int,
) -> "list[optuna.Trial]":
    """Trials for this program to run: what the others leave of the budget, the presets before all else."""
    asked = []
    with _alone(journal):
        for lost in filter(_is_lost, study.trials):
            give_up(study, lost.number)
        left = min(most, budget - sum(map(counts, study.trials)))
        tried = [trial for trial in study.trials if counts(trial) or trial.state.name == "WAITING"]
        if left > 0 and not any(trial.user_attrs.get(PRESET) == preset for trial in tried):
            study.enqueue_trial(dict(preset), user_attrs={PRESET: dict(preset)})
        for _ in range(left):
            study.sampler = _sampler(seed, len(study.trials))
            trial = study.ask()
            trial.set_user_attr(PROGRAM, [platform.node(), os.getpid()])
            suggest(trial, space)
            asked.append(trial)
    return asked


def counts(trial: "optuna.trial.FrozenTrial") -> bool:
    """Whether a trial is part of the budget: run to its end, well or badly, or being run."""
    return trial.state.name in ("COMPLETE", "RUNNING") or (trial.state.name == "FAIL" and ERROR in trial.user_attrs)


def give_up(study: "optuna.Study", number: int) -> None:
    """End a trial that nobody runs any more. It says no error, by which it is told from settings that failed."""
    study.tell(number, state=optuna_package().trial.TrialState.FAIL, skip_if_finished=True)


def _is_lost(trial: "optuna.trial.FrozenTrial") -> bool:
    """Whether the program that runs a trial is gone: here by its number, elsewhere after a long time."""
    if trial.state.name != "RUNNING":
        return False
    machine, program = trial.user_attrs.get(PROGRAM, (None, None))
    # elsewhere than on POSIX, signal 0 is a real one
    if machine == platform.node() and os.name == "posix":
        return not _runs(program)
    return machine is None or trial.datetime_start is None or datetime.now() - trial.datetime_start > LONGEST


def _runs(program: int) -> bool:
    try:
        os.kill(program, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


@contextmanager
def _alone(journal: Path) -> Iterator[None]:
    """One program at a time: between counting and asking no other may ask. A killed one's lock ends by itself."""
    lock = optuna_package().storages.journal.JournalFileOpenLock(f"{journal}.ask")
    lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _sampler(seed: int, number: int) -> Any:
    """The sampler of one trial: by its number, so that neither a restart nor another program repeats its draws."""
    optuna = optuna_package()
    own = int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
    return optuna.samplers.TPESampler(seed=own, multivariate=True, constant_liar=True)


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
