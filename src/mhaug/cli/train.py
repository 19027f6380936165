"""`mhaug train`: one method on one graph, over one or several seeds."""

import math
from functools import partial
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any

import torch
import typer

from mhaug import checks
from mhaug.cli.options import (
    DataDir,
    Device,
    Graph,
    Json,
    LogDir,
    Output,
    Quiet,
    Seed,
    checked_device,
    event_log,
    writable_folder,
)
from mhaug.cli.settings import parse_seeds, parse_settings
from mhaug.cli.train_words import HEAD, NO_VALIDATION, lost, means, row, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from mhaug.experiments.event_log import EventLog
    from mhaug.experiments.record import RunRecord
    from mhaug.experiments.spec import RunSpec

Seeds = Annotated[str | None, typer.Option(help="Several seeds: 0-9 or 0,3,5. Overrides --seed.")]
Setting = Annotated[list[str] | None, typer.Option("--set", help="name=value: any hyper-parameter. May be repeated.")]
Threads = Annotated[
    int | None,
    typer.Option(help="CPU threads; torch's own if not given. A graph of fewer than 100,000 columns takes one."),
]
Out = Annotated[Path | None, typer.Option(help="Folder for models and records; a killed run goes on from there.")]


def train(
    *,
    dataset: Graph = "digits",
    method: Annotated[str, typer.Option(help="A row of Table 1: vanilla, drop-edge, uda, mh-aug, ...")] = "mh-aug",
    backbone: Annotated[str, typer.Option(help="gcn, sage or gat.")] = "gcn",
    split: Annotated[str, typer.Option(help="public: the graph's own protocol; random: 20/30 a class.")] = "public",
    seeds: Seeds = None,
    setting: Setting = None,
    out: Out = None,
    threads: Threads = None,
    checkpoint_every: Annotated[int, typer.Option(help="Updates between checkpoints.")] = 100,
    log_dir: LogDir = None,
    seed: Seed = 0,
    data_dir: DataDir = None,
    device: Device = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Train a network and report its accuracy at the first best validation accuracy.

    Example: mhaug train --dataset cora --method mh-aug --backbone gcn --seeds 0-9 --set dropout=0.8 --out runs/cora

    On several ranks (gradients are averaged over a sample for each): torchrun --nproc-per-node 2 -m mhaug train ...
    """
    from mhaug.distributed.torchrun import joined, local_device
    from mhaug.experiments.spec import RunSpec

    device = local_device(device)
    with joined(device) as world:
        if threads is not None:
            checks.whole_number(threads, "threads", 1)
            torch.set_num_threads(threads)
        checked_device(device)
        # rank 0 speaks for all
        output = Output(quiet or not world.leads, json and world.leads)
        settings = parse_settings(setting or [])
        numbers = [seed] if seeds is None else parse_seeds(seeds)
        specs = [RunSpec(dataset, backbone, method, number, split, settings) for number in numbers]
        options: dict[str, Any] = {"data_dir": data_dir, "device": device, "checkpoint_every": checkpoint_every}
        # rank 0 writes
        log = event_log(log_dir) if world.leads else None
        if world.leads:
            writable_folder(out, "out")
        try:
            _train(specs, output, out, {**options, "world": world}, log)
        except KeyboardInterrupt:
            from mhaug.cli.going_on import when_stopped

            if world.leads:
                output.note(when_stopped(out))
            raise


def _train(
    specs: "list[RunSpec]", output: Output, out: Path | None, options: dict[str, Any], log: "EventLog | None"
) -> None:
    from mhaug.cli.bar import training_bar
    from mhaug.cli.going_on import finished_before, is_read, says_where_it_goes_on
    from mhaug.experiments.batch import batches, run_many, usual_limit

    records: list[RunRecord] = []
    folder = _folder(out)
    first, limit = specs[0], 1 if options["world"].size > 1 else usual_limit(options["device"])
    for group in batches(specs, limit=limit):
        words = f"seed {group[0].seed}" if len(group) == 1 else f"{len(group)} seeds"
        with training_bar(words, group[0].plan().config.max_updates, shown=not output.quiet) as report:
            known, progress = finished_before(group, folder), says_where_it_goes_on(output, report)
            outcomes = list(run_many(group, **options, folder=folder, limit=len(group), report=progress))
        for spec, outcome in outcomes:
            if isinstance(outcome, Exception):
                raise lost(spec, outcome, out)
            if spec in known:
                output.note(is_read(spec, folder(spec)))
            if not records:
                output.show(lambda: f"{first.dataset}, {first.backbone}, {first.method}\n{HEAD}")
            records.append(outcome)
            if log is not None:
                log.add(outcome)
            output.show(partial(row, outcome))
    if len(records) > 1:
        output.show(lambda: means(records))
    if any(math.isnan(record.validation_accuracy) for record in records):
        output.note(NO_VALIDATION)
    output.result(_json(records))


def _folder(out: Path | None) -> "Callable[[RunSpec], Path | None]":
    return lambda spec: None if out is None else out / f"seed-{spec.seed}"


def _json(records: "list[RunRecord]") -> dict[str, object]:
    tests = [record.test_accuracy for record in records]
    return {
        "test_accuracy": mean(tests),
        "test_accuracy_std": spread(tests) if len(tests) > 1 else None,
        "validation_accuracy": mean(record.validation_accuracy for record in records),
        "runs": [record.to_json(history=False) for record in records],
    }
