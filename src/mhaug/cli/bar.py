"""Progress on standard error: a bar on a terminal, elsewhere a line now and then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mhaug.cli.percent import percent
from mhaug.counted import Lines
from mhaug.experiments.engines.engine import Outcome
from mhaug.experiments.sweep import Standing
from mhaug.training.progress import Progress as Training

if TYPE_CHECKING:
    from optuna import Study

Report = Callable[[Training], None]


@contextmanager
def training_bar(words: str, updates: int, *, shown: bool) -> Iterator[Report | None]:
    """A report function for `fit`: loss, accuracy, acceptance; None where nothing is to be shown."""
    console = Console(stderr=True)
    if not shown:
        yield None
        return
    if not console.is_terminal:
        yield _training_lines(Lines(words), updates)
        return
    numbers = TextColumn("loss {task.fields[loss]:.3f}  val {task.fields[validation]}  acc {task.fields[rate]:.0%}")
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), numbers, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(words, total=updates, loss=0.0, validation=percent(0.0, 1), rate=1.0)

        def report(training: Training) -> None:
            history = training.history
            bar.update(
                task,
                completed=training.updates,
                loss=history["loss_total"][-1],
                validation=percent(history["validation_accuracy"][-1], 1),
                rate=history["acceptance"][-1],
            )

        yield report


def _training_lines(lines: Lines, updates: int) -> Report:
    def report(training: Training) -> None:
        loss, validation = (training.history[name][-1] for name in ("loss_total", "validation_accuracy"))
        lines(f"{training.updates} of {updates} updates  loss {loss:.3f}  val {percent(validation, 1)}")

    return report


@contextmanager
def sweep_bar(runs: int, *, shown: bool) -> Iterator[Callable[[Standing, Outcome], None] | None]:
    """A report function for `run_sweep`: how many runs are through, how many failed, when it will end."""
    console = Console(stderr=True)
    if not (shown and runs):
        yield None
        return
    if not console.is_terminal:
        lines = Lines("runs")
        yield lambda standing, outcome: lines(
            f"{standing.done + standing.failed} of {standing.total}  {_words(standing, outcome)}"
        )
        return
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("runs", total=runs, words="")

        def report(standing: Standing, outcome: Outcome) -> None:
            bar.update(task, completed=standing.done + standing.failed, words=_words(standing, outcome))

        yield report


def _words(standing: Standing, outcome: Outcome) -> str:
    left, spec = timedelta(seconds=round(standing.seconds_left() or 0.0)), outcome.spec
    last = f"{spec.dataset} {spec.backbone} {spec.method} {spec.seed}"
    return f"{standing.failed} failed  {left} left  last: {last}"


@contextmanager
def study_bar(words: str, trials: int, *, shown: bool) -> "Iterator[Callable[[Study], None] | None]":
    """A report function for `tune`: trials through, and the best validation accuracy so far."""
    console = Console(stderr=True)
    if not shown:
        yield None
        return
    if not console.is_terminal:
        lines = Lines(words)
        yield lambda study: lines(f"{_through(study)} of {trials} trials  {_best(study)}")
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[best]}"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(words, total=trials, best="")

        def report(study: "Study") -> None:
            bar.update(task, completed=_through(study), best=_best(study))

        yield report


def _through(study: "Study") -> int:
    return sum(trial.state.is_finished() for trial in study.trials)


def _best(study: "Study") -> str:
    values = [trial.value for trial in study.trials if trial.value is not None]
    return f"best validation {max(values):.2%}" if values else ""
