"""The progress bar of training: loss, accuracy, acceptance. On standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mhaug.experiments.engines.engine import Outcome
from mhaug.experiments.sweep import Standing
from mhaug.training.progress import Progress as Training

if TYPE_CHECKING:
    from optuna import Study

Report = Callable[[Training], None]


@contextmanager
def training_bar(words: str, updates: int, *, shown: bool) -> Iterator[Report | None]:
    """A report function for `fit`, which moves a bar; None where nothing is to be shown."""
    console = Console(stderr=True)
    if not (shown and console.is_terminal):
        yield None
        return
    numbers = TextColumn(
        "loss {task.fields[loss]:.3f}  val {task.fields[validation]:.1%}  acc {task.fields[rate]:.0%}"
    )
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), numbers, TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(words, total=updates, loss=0.0, validation=0.0, rate=1.0)

        def report(training: Training) -> None:
            history = training.history
            bar.update(
                task,
                completed=training.updates,
                loss=history["loss_total"][-1],
                validation=history["validation_accuracy"][-1],
                rate=history["acceptance"][-1],
            )

        yield report


@contextmanager
def sweep_bar(runs: int, *, shown: bool) -> Iterator[Callable[[Standing, Outcome], None] | None]:
    """A report function for `run_sweep`: how many runs are through, how many failed, when it will end."""
    console = Console(stderr=True)
    if not (shown and console.is_terminal and runs):
        yield None
        return
    columns = (TextColumn("runs"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}"))
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("runs", total=runs, words="")

        def report(standing: Standing, outcome: Outcome) -> None:
            left = timedelta(seconds=round(standing.seconds_left() or 0.0))
            spec = outcome.spec
            last = f"{spec.dataset} {spec.backbone} {spec.method} {spec.seed}"
            words = f"{standing.failed} failed  {left} left  last: {last}"
            bar.update(task, completed=standing.done + standing.failed, words=words)

        yield report


@contextmanager
def study_bar(words: str, trials: int, *, shown: bool) -> "Iterator[Callable[[Study], None] | None]":
    """A report function for `tune`: trials through, and the best validation accuracy so far."""
    console = Console(stderr=True)
    if not (shown and console.is_terminal):
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[best]}"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(words, total=trials, best="")

        def report(study: "Study") -> None:
            values = [trial.value for trial in study.trials if trial.value is not None]
            through = sum(trial.state.is_finished() for trial in study.trials)
            bar.update(task, completed=through, best=f"best validation {max(values):.2%}" if values else "")

        yield report
