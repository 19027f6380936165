"""`run_many`: specs in, records out; on a GPU those that are alike are trained side by side."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from mhaug import checks
from mhaug.data.datasets import load_graph, task_of
from mhaug.distributed.world import World
from mhaug.estimator import NodeClassifier
from mhaug.experiments.record import RunRecord
from mhaug.experiments.run import CHECKPOINT, claimed, finished_run, keep, run
from mhaug.experiments.spec import RunSpec
from mhaug.objectives.non_finite import NonFiniteLossError
from mhaug.training.plan import Plan
from mhaug.training.progress import Progress
from mhaug.training.replicas.group import fit_together, group_key

BATCH = 64  # replicas at most: Cora gains little beyond, and larger graphs fill the device sooner

Outcome = RunRecord | NonFiniteLossError
Report = Callable[[Progress], None]


def batches(specs: Sequence[RunSpec], *, limit: int = BATCH) -> list[list[RunSpec]]:
    """Specs that can be trained side by side, put together in their order: same graph, alike in all but numbers."""
    checks.whole_number(limit, "limit", 1)
    groups: dict[object, list[RunSpec]] = {}
    for number, spec in enumerate(specs):
        key = group_key(Plan.of(spec.backbone, spec.method, spec.all_settings()))
        groups.setdefault(("alone", number) if key is None else (spec.dataset, spec.split, key), []).append(spec)
    return [group[start : start + limit] for group in groups.values() for start in range(0, len(group), limit)]


def usual_limit(device: str) -> int:
    """One at a time on a CPU, where numba's chain and skipped rejections make single runs faster; else `BATCH`."""
    return 1 if torch.device(device).type == "cpu" else BATCH


def run_many(
    specs: Sequence[RunSpec],
    *,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    folder: Callable[[RunSpec], Path | None] = lambda spec: None,
    limit: int | None = None,
    checkpoint_every: int = 100,
    report: Report | None = None,
    world: World | None = None,
) -> Iterator[tuple[RunSpec, Outcome]]:
    """Each spec with its record, as they are finished; a run whose loss is not finite with its error.

    `limit` runs at most are trained side by side, by default `usual_limit`. `folder` says where a run is kept (see
    `run`). With several ranks in `world` runs are trained one after another, each by all ranks.
    """
    limit = 1 if world is not None and world.size > 1 else limit
    for group in batches(specs, limit=limit or usual_limit(device)):
        if len(group) == 1:
            spec = group[0]
            try:
                yield (
                    spec,
                    run(
                        spec,
                        data_dir=data_dir,
                        device=device,
                        out=folder(spec),
                        checkpoint_every=checkpoint_every,
                        report=report,
                        world=world,
                    ),
                )
            except NonFiniteLossError as error:
                yield spec, error
            continue
        folders = {spec: folder(spec) for spec in group}
        folders = {spec: None if place is None else claimed(place, spec) for spec, place in folders.items()}
        waiting = []
        for spec, place in folders.items():
            if (record := finished_run(place)) is not None:
                yield spec, record
            else:
                waiting.append(spec)
        if waiting:
            place = folders[waiting[0]]
            checkpoint = None if place is None else place / CHECKPOINT
            yield from _together(waiting, folders, data_dir, device, checkpoint, checkpoint_every, report)


def _together(
    specs: list[RunSpec],
    folders: dict[RunSpec, Path | None],
    data_dir: str | Path | None,
    device: str,
    checkpoint: Path | None,
    checkpoint_every: int,
    report: Report | None,
) -> Iterator[tuple[RunSpec, Outcome]]:
    graph = load_graph(specs[0].dataset, data_dir)
    # one copy of the graph on the device, whatever the splits
    tasks = [task_of(graph, spec.dataset, spec.split, spec.seed) for spec in specs]
    shared = tasks[0].to(device)
    tasks = [replace(shared, split=task.split.to(device)) for task in tasks]
    plans = [Plan.of(spec.backbone, spec.method, spec.all_settings()) for spec in specs]
    seeds = [spec.seed for spec in specs]
    with torch.random.fork_rng(devices=[torch.cuda.current_device()] if shared.labels.is_cuda else []):
        fitted = fit_together(
            tasks, plans, seeds, checkpoint=checkpoint, checkpoint_every=checkpoint_every, report=report
        )
    for index, spec in enumerate(specs):
        clf = NodeClassifier(spec.method, spec.backbone, spec.seed, device=device, **spec.all_settings())
        try:
            yield spec, keep(spec, clf.take_from(fitted, index, tasks[index]), folders[spec])
        except NonFiniteLossError as error:
            yield spec, error
