"""The run store: one SQLite file, one writer; every finished run once, every failed run with its error."""

import csv
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mhaug.checks import RequestError
from mhaug.experiments.record import RunRecord
from mhaug.experiments.spec import RunSpec

_SCHEMA = """
create table if not exists runs (
    key text primary key,           -- of the spec and of the settings that the presets gave it
    dataset text not null, backbone text not null, method text not null, seed integer not null,
    status text not null check (status in ('done', 'failed')),
    spec text not null,             -- JSON
    record text,                    -- JSON, of a finished run
    error text,                     -- of a failed one
    at text not null default (datetime('now'))
)"""


@dataclass(frozen=True)
class Failure:
    """A run that ended without a record."""

    spec: RunSpec
    error: str


class RunStore:
    """Opened by one writer at a time; a kill at any moment leaves whole rows. `":memory:"` keeps nothing."""

    def __init__(self, path: str | Path) -> None:
        if str(path) != ":memory:":
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        try:
            self._file = sqlite3.connect(path, isolation_level=None)
            self._file.execute(_SCHEMA)
        except sqlite3.DatabaseError as broken:
            raise RequestError(
                f"store must be a run store (an SQLite file) or a new path; got {str(path)!r}"
            ) from broken

    def add(self, outcome: RunRecord | Failure) -> None:
        """Keep a run, once: a finished run is never overwritten, a failed one is by whatever comes next."""
        done = isinstance(outcome, RunRecord)
        spec = outcome.spec
        record = json.dumps(outcome.to_json()) if isinstance(outcome, RunRecord) else None
        error = outcome.error if isinstance(outcome, Failure) else None
        row = (key_of(spec), spec.dataset, spec.backbone, spec.method, spec.seed, "done" if done else "failed")
        self._file.execute(
            "insert into runs (key, dataset, backbone, method, seed, status, spec, record, error) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do update set status = excluded.status, "
            "record = excluded.record, error = excluded.error, at = datetime('now') where runs.status = 'failed'",
            (*row, json.dumps(spec.to_json()), record, error),
        )

    def waiting(self, specs: Iterable[RunSpec], *, retry_failed: bool = False) -> list[RunSpec]:
        """Those that are neither finished nor, unless they are to be tried again, failed; each once."""
        wanted = ("done",) if retry_failed else ("done", "failed")
        marks = ", ".join("?" * len(wanted))
        known = {key for (key,) in self._ask(f"select key from runs where status in ({marks})", wanted)}
        return [spec for spec in dict.fromkeys(specs) if key_of(spec) not in known]

    def records(self) -> Iterator[RunRecord]:
        """Every finished run, in the order of its cell and seed."""
        order = "order by dataset, backbone, method, key, seed"
        for (text,) in self._ask(f"select record from runs where status = 'done' {order}"):
            yield RunRecord.from_json(text)

    def failures(self) -> list[Failure]:
        """Every failed run."""
        rows = self._ask("select spec, error from runs where status = 'failed' order by at")
        return [Failure(RunSpec.from_json(spec), error) for spec, error in rows]

    def _ask(self, words: str, values: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        try:
            yield from self._file.execute(words, values)
        except sqlite3.DatabaseError as broken:
            raise RequestError(f"store must be a whole run store; got {str(self.path)!r} ({broken})") from broken

    def export_lines(self, path: str | Path, *, history: bool = False) -> int:
        """Every finished run as a line of JSON; how many."""
        lines = [json.dumps(record.to_json(history=history)) for record in self.records()]
        Path(path).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return len(lines)

    def export_csv(self, path: str | Path) -> int:
        """Every finished run as a row, without settings and curves; how many."""
        names = ["test_accuracy", "validation_accuracy", "last_test_accuracy", "test_macro_f1", "best_update"]
        names += ["updates", "steps", "acceptance_rate", "seconds", "device"]
        cell = ["dataset", "backbone", "method", "seed", "split"]
        rows = [
            [*(getattr(r.spec, name) for name in cell), *(getattr(r, name) for name in names)] for r in self.records()
        ]
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([[*cell, *names], *rows])
        return len(rows)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def key_of(spec: RunSpec) -> str:
    """What makes a run this run and no other: presets may change, and then it is another one."""
    whole = {**spec.to_json(), "settings": spec.all_settings()}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:32]


def _lines(path: Path) -> Iterator[RunRecord]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            if line.strip():
                yield RunRecord.from_json(line)
        except (ValueError, KeyError, TypeError) as broken:
            raise RequestError(
                f"records must have a whole record on every line; got {str(path)!r}, line {number} ({broken!r})"
            ) from broken


def read_records(path: str | Path) -> list[RunRecord]:
    """The records of a run store, of a file of JSON lines, or of all such files in a folder."""
    path = Path(path)
    if path.is_dir():
        found = sorted([*path.glob("*.sqlite"), *path.glob("*.jsonl")])
        return [record for file in found for record in read_records(file)]
    if not path.is_file():
        raise RequestError(
            f"records must be a run store, a .jsonl file or a folder of them, as `mhaug sweep` makes them; "
            f"there is no {str(path)!r}"
        )
    if path.suffix == ".jsonl":
        return list(_lines(path))
    store = RunStore(path)
    try:
        return list(store.records())
    finally:
        store.close()
