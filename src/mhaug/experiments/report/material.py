"""What a report is made from: records, failures, pictures."""

from dataclasses import dataclass
from pathlib import Path

from mhaug.checks import RequestError
from mhaug.experiments.record import RunRecord
from mhaug.experiments.report.pictures import Picture, pictures
from mhaug.experiments.store import Failure, RunStore, read_records


@dataclass(frozen=True)
class Material:
    """Read once; nothing below opens a file."""

    source: str
    records: list[RunRecord]
    failures: list[Failure]
    pictures: list[Picture]


def read_material(store: Path, figures: Path) -> Material:
    """The runs of a store (or of files of JSON lines, or of a folder of both) and the images of a folder."""
    records = read_records(store)
    paths = sorted(store.glob("*.sqlite")) if store.is_dir() else [store]
    failures = [failure for path in paths if path.suffix != ".jsonl" for failure in _failures(path)]
    if not (records or failures):
        raise RequestError(f"store must hold runs; {str(store)!r} holds none")
    return Material(str(store), records, failures, pictures(figures))


def _failures(path: Path) -> list[Failure]:
    store = RunStore(path)
    try:
        return store.failures()
    finally:
        store.close()
