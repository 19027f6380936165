"""`run`: a spec in, a record out. With a folder, a run that can be killed and go on."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mhaug.checks import RequestError
from mhaug.data.datasets import load_dataset
from mhaug.distributed.world import RankLostError, World
from mhaug.estimator import NodeClassifier
from mhaug.experiments.plain_json import dumps
from mhaug.experiments.record import RunRecord
from mhaug.experiments.run_key import identity, later_settings
from mhaug.experiments.spec import RunSpec
from mhaug.model_files import DESCRIPTION
from mhaug.training.progress import Progress

RECORD, CHECKPOINT, SPEC = "record.json", "checkpoint.safetensors", "spec.json"


def run(
    spec: RunSpec,
    *,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    out: str | Path | None = None,
    checkpoint_every: int = 100,
    report: Callable[[Progress], None] | None = None,
    world: World | None = None,
) -> RunRecord:
    """Train as `spec` says.

    With `out`, that folder gets the trained classifier, the record and checkpoints: a finished run is read, not
    repeated, and a killed one goes on with the same numbers. With several ranks in `world`, rank 0 reads and writes.
    """
    world = world or World.alone()
    folder = claimed(Path(out), spec) if out is not None and world.leads else None
    if (finished := _known_to_all(finished_run(folder), world)) is not None:
        return finished
    task = load_dataset(spec.dataset, data_dir, split=spec.split, seed=spec.seed)
    clf = NodeClassifier(spec.method, spec.backbone, spec.seed, device=device, **spec.all_settings())
    checkpoint = None if out is None else Path(out) / CHECKPOINT
    options: dict[str, Any] = {"checkpoint_every": checkpoint_every, "report": report, "world": world}
    try:
        clf.fit(task, checkpoint=checkpoint, **options)
    except RankLostError as lost:
        raise RankLostError(f"{lost}; the run ends here, {_how_to_go_on(checkpoint, world)}") from lost
    return keep(spec, clf, folder, ranks=world.size)


def _how_to_go_on(checkpoint: Path | None, world: World) -> str:
    """After a rank was lost. Only rank 0 writes, perhaps on another machine."""
    if checkpoint is None:
        return "with --out it could have gone on, on any number of ranks"
    if checkpoint.exists():
        return f"start it again to go on from {checkpoint}, on any number of ranks"
    if world.leads:
        return "before anything was saved: start it again"
    return "start it again to go on from what rank 0 has saved, if it has, on any number of ranks"


def _known_to_all(record: RunRecord | None, world: World) -> RunRecord | None:
    """What rank 0 has found."""
    content = world.bytes_from_first(b"" if record is None else dumps(record.to_json()).encode())
    return RunRecord.from_json(content.decode()) if content and record is None else record


def finished_run(folder: Path | None) -> RunRecord | None:
    """The record in a run's folder, where there is one."""
    if folder is None or not (folder / RECORD).is_file():
        return None
    return RunRecord.from_json((folder / RECORD).read_text(encoding="utf-8"))


def keep(spec: RunSpec, clf: NodeClassifier, folder: Path | None, *, ranks: int = 1) -> RunRecord:
    """The record of a fitted classifier; written beside the classifier where there is a folder."""
    assert clf.result_ is not None
    record = RunRecord.of(spec, clf.result_, device=str(clf.device), ranks=ranks)
    if folder is not None:
        clf.save(folder)
        _write(folder / RECORD, dumps(record.to_json()))
        (folder / CHECKPOINT).unlink(missing_ok=True)
    return record


def folder_of_run(folder: Path) -> Path:
    """A run's own folder, or the only run in a folder of `mhaug train --out`."""
    if (folder / DESCRIPTION).is_file():
        return folder
    runs = sorted(path.parent for path in folder.glob(f"*/{DESCRIPTION}"))
    if len(runs) != 1:
        found = ", ".join(path.name for path in runs) or "nothing"
        raise RequestError(f"model must be a folder with {DESCRIPTION}; {str(folder)!r} holds {found}")
    return runs[0]


def trained_on(folder: Path) -> str | None:
    """The dataset of a run's folder, where it says so."""
    note = folder / SPEC
    return str(json.loads(note.read_text(encoding="utf-8"))["dataset"]) if note.is_file() else None


def claimed(folder: Path, spec: RunSpec) -> Path:
    """The folder of this run and no other."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as broken:
        raise RequestError(
            f"'out' must be a folder, or a place for one; got {str(folder)!r} ({broken.strerror})"
        ) from broken
    mine, note = identity(spec), folder / SPEC
    theirs = json.loads(note.read_text(encoding="utf-8")) if note.is_file() else mine
    if wrong := ", ".join(_differences(theirs, mine, later_settings(spec))):
        raise RequestError(
            f"out must be an empty folder or that of the same run; {str(folder)!r} holds another run ({wrong}); "
            "give another out (--out)"
        )
    _write(note, dumps(mine, sort_keys=True))
    return folder


def _differences(theirs: dict[str, Any], mine: dict[str, Any], later: dict[str, Any]) -> list[str]:
    """What tells two runs apart, in words.

    A note of an earlier version leaves out defaults: nothing to compare, but for settings that came `later`.
    """
    flat = [{**later, **spec, **spec["settings"], "settings": None} for spec in (theirs, mine)]
    return [
        # a hash tells nobody anything
        "the graph's file has changed" if name == "graph" else f"{name} {flat[0][name]} there, {flat[1][name]} here"
        for name in sorted(flat[0].keys() & flat[1].keys())
        if flat[0][name] != flat[1][name]
    ]


def _write(path: Path, text: str) -> None:
    """Whole or not at all."""
    temporary = path.with_suffix(".part")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)
