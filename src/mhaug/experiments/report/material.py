"""What a report is made from: records, failures, pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mhaug.checks import RequestError
from mhaug.experiments.record import RunRecord
from mhaug.experiments.report.pictures import Picture, pictures
from mhaug.experiments.store import Failure, RunStore, read_records


@dataclass(frozen=True)
class Material:
    """Read once; nothing below opens a file."""

    sources: tuple[str, ...]
    records: list[RunRecord]
    failures: list[Failure]
    pictures: list[Picture]


def read_material(stores: Sequence[Path], figures: Path | None) -> Material:
    """The runs of stores (or of files of JSON lines, or of folders of both) and the images of a folder, if any."""
    sources = tuple(map(str, stores))
    records = [record for store in stores for record in read_records(store)]
    paths = [path for store in stores for path in (sorted(store.glob("*.sqlite")) if store.is_dir() else [store])]
    failures = [failure for path in paths if path.suffix != ".jsonl" for failure in _failures(path)]
    if not (records or failures):
        raise RequestError(f"store must hold runs; {', '.join(map(repr, sources))} holds none")
    return Material(sources, records, failures, [] if figures is None else pictures(figures))


def _failures(path: Path) -> list[Failure]:
    store = RunStore(path)
    try:
        return store.failures()
    finally:
        store.close()
