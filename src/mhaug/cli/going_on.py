"""What `mhaug train` says of a run that was there already, or that is stopped."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mhaug.cli.options import Output
from mhaug.experiments.run import CHECKPOINT, RECORD
from mhaug.training.progress import Progress

if TYPE_CHECKING:
    from mhaug.experiments.spec import RunSpec

Report = Callable[[Progress], None]


def says_where_it_goes_on(output: Output, report: Report | None) -> Report:
    """The report function, and before its first call a line where the run does not begin at the beginning."""
    begun = False

    def first(training: Progress) -> None:
        nonlocal begun
        # it is called after every update
        if not begun and training.updates > 1:
            output.note(f"going on after update {training.updates - 1}")
        begun = True
        if report is not None:
            report(training)

    return first


def finished_before(specs: "list[RunSpec]", folder: "Callable[[RunSpec], Path | None]") -> "set[RunSpec]":
    """Those with a record, which is read."""
    return {spec for spec in specs if (place := folder(spec)) is not None and (place / RECORD).is_file()}


def is_read(spec: "RunSpec", folder: Path | None) -> str:
    """Of a finished run."""
    return f"seed {spec.seed}: finished before, read from {folder} and not trained again"


def when_stopped(out: Path | None) -> str:
    """After Ctrl-C."""
    if out is None:
        return "nothing was kept; with --out the same command could have gone on from here"
    if any(out.glob(f"*/{CHECKPOINT}")):
        return f"the same command goes on from the last checkpoint in {out}"
    return f"what is finished is in {out}; the run that was stopped had no checkpoint yet and begins anew"
