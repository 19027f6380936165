"""`mhaug sweep`: many runs into one store; stopped and gone on with at any time."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mhaug.checks import RequestError
from mhaug.cli.options import (
    DataDir,
    Device,
    Json,
    LogDir,
    Output,
    Quiet,
    Slurm,
    checked_device,
    event_log,
    existing_graphs,
    writable_folder,
)
from mhaug.cli.settings import parse_grid, parse_seeds, parse_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from mhaug.experiments.engines.engine import Outcome
    from mhaug.experiments.event_log import EventLog
    from mhaug.experiments.store import Failure
    from mhaug.experiments.sweep import Standing, Sweep

    Report = Callable[[Standing, Outcome], None]

Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset",
        "--graph",
        help="A known name (see `mhaug datasets`) or your own graph's path. May be repeated.",
        callback=existing_graphs,
    ),
]
Backbones = Annotated[list[str] | None, typer.Option(help="gcn, sage or gat; gcn if not given. May be repeated.")]
Methods = Annotated[list[str] | None, typer.Option(help="A row of Table 1; mh-aug if not given. May be repeated.")]
File = Annotated[Path | None, typer.Argument(help="A TOML file with datasets, backbones, methods, seeds, settings.")]
Engine = Annotated[str, typer.Option(help="batch (this process; side by side on a GPU), process, ray or slurm.")]


def sweep(
    file: File = None,
    *,
    dataset: Datasets = None,
    backbone: Backbones = None,
    method: Methods = None,
    seeds: Annotated[str | None, typer.Option(help="Such as 0,3,5; 0-9 if not given.")] = None,
    split: Annotated[str | None, typer.Option(help="public (if not given) or random.")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="name=value, for all runs.")] = None,
    grid: Annotated[list[str] | None, typer.Option(help="name=value,value: every combination is run.")] = None,
    store: Annotated[Path, typer.Option(help="The run store; what it has is not run again.")] = Path("runs.sqlite"),
    engine: Engine = "process",
    workers: Annotated[int | None, typer.Option(help="Processes of the engine `process`; 2 if not given.")] = None,
    threads: Annotated[
        int | None, typer.Option(help="CPU threads of a large graph's run; 1, or `batch`: all.")
    ] = None,
    address: Annotated[str | None, typer.Option(help="Of a Ray cluster; without it one is started here.")] = None,
    slurm: Slurm = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run failed runs again.")] = False,
    export: Annotated[Path | None, typer.Option(help="Write runs.jsonl and runs.csv into this folder.")] = None,
    log_dir: LogDir = None,
    seed: Annotated[int | None, typer.Option(help="One seed instead; --seeds overrides it.")] = None,
    data_dir: DataDir = None,
    device: Device = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run every combination of datasets, backbones, methods, settings and seeds that the store does not have.

    Example: mhaug sweep --dataset cora --dataset citeseer --method vanilla --method mh-aug --seeds 0-9 --workers 2
    """
    from mhaug.cli.bar import sweep_bar
    from mhaug.experiments.engines.catalogue import build_engine
    from mhaug.experiments.store import RunStore
    from mhaug.experiments.sweep import run_sweep

    output = Output(quiet, json)
    checked_device(device)
    asked: dict[str, Any] = {
        "datasets": dataset,
        "backbones": backbone,
        "methods": method,
        "seeds": parse_seeds(seeds) if seeds is not None else (None if seed is None else [seed]),
        "split": split,
        "settings": parse_settings(setting or []) or None,
        "grid": parse_grid(grid or []) or None,
    }
    specs = _plan(file, {name: value for name, value in asked.items() if value is not None}).specs()
    places: dict[str, Any] = {"address": address, "slurm": parse_settings(slurm or [], "--slurm")}
    works = build_engine(engine, data_dir=data_dir, device=device, workers=workers, threads=threads, **places)
    # whatever is wrong is said before anything is run
    log, export, runs = event_log(log_dir), writable_folder(export, "export"), RunStore(store)
    with runs.alone():
        waiting = len(runs.waiting(specs, retry_failed=retry_failed))
        output.show(lambda: f"runs asked for: {len(specs)}; in {store} already: {len(specs) - waiting}")
        try:
            with sweep_bar(waiting, shown=not quiet) as bar:
                report = _report(log, bar)
                standing = run_sweep(specs, runs, works, retry_failed=retry_failed, report=report)
        except KeyboardInterrupt:
            output.show(lambda: f"what is finished is in {store}; the same command goes on from there")
            raise
        failed = runs.failures(specs)
        if export is not None:
            runs.export_lines(export / "runs.jsonl")
            runs.export_csv(export / "runs.csv")
    again = "; --retry-failed runs them again" if failed else ""
    output.show(lambda: f"finished now: {standing.done}; failed: {len(failed)}{again}")
    for failure in failed:
        output.show(partial(_failed, failure))
    output.result({"asked": len(specs), "finished": standing.done, "failed": len(failed), "store": str(store)})
    if failed:
        raise SystemExit(1)


def _plan(file: Path | None, asked: dict[str, Any]) -> "Sweep":
    """What the file says, and over it what the command line says."""
    from mhaug.experiments.sweep import Sweep

    if file is None and "datasets" not in asked:
        raise RequestError("sweep must be told what to run: a TOML file, or --dataset; got neither")
    return Sweep(**{**(vars(Sweep.from_toml(file)) if file is not None else {}), **asked})


def _report(log: "EventLog | None", bar: "Report | None") -> "Report":
    from mhaug.experiments.record import RunRecord

    def report(standing: "Standing", outcome: "Outcome") -> None:
        if log is not None and isinstance(outcome, RunRecord):
            log.add(outcome)
        if bar is not None:
            bar(standing, outcome)

    return report


def _failed(failure: "Failure") -> str:
    spec = failure.spec
    own = "".join(f", {name}={value}" for name, value in spec.own_settings().items())
    return f"failed: {spec.dataset}, {spec.backbone}, {spec.method}, seed {spec.seed}{own}: {failure.error}"
