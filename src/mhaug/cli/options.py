"""Options and output that all commands share."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Annotated, Any

import torch
import typer

from mhaug import checks
from mhaug.experiments.plain_json import dumps

if TYPE_CHECKING:
    from mhaug.experiments.event_log import EventLog

Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
# for commands that draw nothing, open no graph, compute nothing: a script may give every command the same options
NoSeed = Annotated[int, typer.Option("--seed", help="As every command; this one draws nothing.")]
NoDataDir = Annotated[
    Path | None, typer.Option("--data-dir", envvar="MHAUG_DATA", help="As every command; this one opens no graph.")
]
NoDevice = Annotated[str, typer.Option("--device", help="As every command; this one computes nothing there.")]
DataDir = Annotated[
    Path | None, typer.Option(envvar="MHAUG_DATA", help="Folder with the benchmark graphs (Cora/raw/...).")
]
Device = Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, ...")]


def existing_graph(name: str | None) -> str | None:
    """Refuse a path that leads nowhere; names are for the table of datasets to judge."""
    from mhaug.data.datasets import is_built_in
    from mhaug.data.files import FORMATS

    if name is not None and not is_built_in(name):
        path = Path(name).expanduser()
        like_one = len(path.parts) > 1 or path.suffix.lower() in [*filter(None, FORMATS)]
        if like_one and not path.exists():
            raise checks.RequestError(f"'dataset' must be a known name or an existing path; there is no {name!r}")
    return name


def existing_graphs(names: list[str] | None) -> list[str] | None:
    """The same of several."""
    for name in names or []:
        existing_graph(name)
    return names


def _graph_option() -> Any:
    text = "A known name (see `mhaug datasets`), or your own graph's path."
    return typer.Option("--dataset", "--graph", help=text, callback=existing_graph)


Graph = Annotated[str, _graph_option()]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar, no table.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else.")]
Slurm = Annotated[
    list[str] | None, typer.Option(help="name=value for sbatch: partition=gpu, time=120 (minutes). May be repeated.")
]
LogDir = Annotated[Path | None, typer.Option(help="Also write the curves of each run for TensorBoard into here.")]


@dataclass(frozen=True)
class Output:
    """Where words go: tables on standard output, or one JSON object there and nothing else."""

    quiet: bool
    json: bool

    @property
    def progress(self) -> bool:
        """Whether to show progress bars (they go to standard error)."""
        return not (self.quiet or self.json)

    def show(self, words: Callable[[], str]) -> None:
        """Print for people."""
        if self.progress:
            print(words())

    def note(self, line: str) -> None:
        """One line for people on standard error, where numbers alone would mislead."""
        if not self.quiet:
            print(line, file=sys.stderr, flush=True)

    def result(self, record: dict[str, Any]) -> None:
        """Print for programs; null for what is not a number."""
        if self.json:
            print(dumps(record, default=str))


def writable_folder(folder: Path | None, option: str) -> Path | None:
    """The folder, made if need be; refused before any long work where nothing can be put into it."""
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=folder):
                pass
        except OSError as wrong:
            rule = f"a folder that can be written ({wrong.strerror})"
            raise checks.RequestError(f"'{option}' must be {rule}; got {str(folder)!r}") from wrong
    return folder


def checked_device(name: str) -> torch.device:
    """The device of this name, if it is there."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as missing:
        rule = f"one that this machine has ({', '.join(_devices())})"
        raise checks.RequestError(f"'device' must be {rule}; got {name!r}") from missing
    return device


def _devices() -> list[str]:
    cards = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    return ["cpu", *(["cuda"] if cards else []), *cards]


def event_log(folder: Path | None) -> "EventLog | None":
    """Where the curves of finished runs are written for TensorBoard, if anywhere."""
    if folder is None:
        return None
    from mhaug.experiments.event_log import EventLog

    log = EventLog(folder)
    writable_folder(folder, "log_dir")
    return log
