"""The progress bar of training: loss, accuracy, acceptance. On standard error."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from mhaug.training.progress import Progress as Training

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
