"""The run store: one SQLite file; every finished run once, every failed run with its error."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mhaug.checks import RequestError
from mhaug.experiments import store_file
from mhaug.experiments.plain_json import dumps
from mhaug.experiments.record import RunRecord
from mhaug.experiments.record_lines import read_lines, write_lines
from mhaug.experiments.record_rows import write_rows
from mhaug.experiments.run_key import key_of
from mhaug.experiments.spec import RunSpec
from mhaug.experiments.store_layout import tables

_ADD = (
    "insert into runs (key, dataset, backbone, method, seed, status, spec, record, error) "
    "values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do update set status = excluded.status, "
    "record = excluded.record, error = excluded.error, at = datetime('now') where runs.status = 'failed'"
)

_WRITABLE = "a path that can be written, of a run store or of nothing yet"


@dataclass(frozen=True)
class Failure:
    """A run that ended without a record."""

    spec: RunSpec
    error: str


class RunStore:
    """Read by many, written by one; a kill at any moment leaves whole rows. `":memory:"` keeps nothing.

    Nothing is written, and no file made, before `alone` or the first `add`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self._file: sqlite3.Connection | None = None
        self._writes, self._alone = False, False
        self._keys: dict[RunSpec, str] = {}
        with self._refused("a run store (an SQLite file) or a new path"):
            self._to_read()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Inside, no other sweep has the store. Refused where another one does, and where it cannot be written."""
        with ExitStack() as held:
            if not self._alone and str(self.path) != ":memory:":
                with self._refused(_WRITABLE):
                    held.enter_context(store_file.only_one(self.path))
                held.callback(self.close)
                self._to_write()
                self._alone = True
                held.callback(setattr, self, "_alone", False)
            yield

    def add(self, outcome: RunRecord | Failure) -> None:
        """Keep a run, once: a finished run is never overwritten, a failed one is by whatever comes next."""
        file, spec, key = self._to_write(), outcome.spec, self.key_of(outcome.spec)
        record, curves = None, None
        if isinstance(outcome, RunRecord):
            record, curves = dumps(outcome.to_json(history=False)), dumps(outcome.history)
        error = outcome.error if isinstance(outcome, Failure) else None
        row = (key, spec.dataset, spec.backbone, spec.method, spec.seed, "done" if error is None else "failed")

        def write() -> None:
            with file:  # both rows or none
                file.execute("begin immediate")
                file.execute(_ADD, (*row, dumps(spec.to_json()), record, error))
                if curves is not None:
                    file.execute("insert or ignore into curves values (?, ?)", (key, curves))

        store_file.insist(write)

    def key_of(self, spec: RunSpec) -> str:
        """As it was when first asked for: a graph file that changes in mid-sweep does not change what was run."""
        if spec not in self._keys:
            self._keys[spec] = key_of(spec)
        return self._keys[spec]

    def waiting(self, specs: Iterable[RunSpec], *, retry_failed: bool = False) -> list[RunSpec]:
        """Those that are neither finished nor, unless they are to be tried again, failed; each once."""
        rows = self._ask("select key, status from runs")
        done = {key for key, status in rows if status == "done" or not retry_failed}
        asked = {self.key_of(spec): spec for spec in reversed(list(specs))}
        return [spec for key, spec in reversed(asked.items()) if key not in done]

    def records(self, *, curves: bool = True) -> Iterator[RunRecord]:
        """Every finished run, in the order of its cell and seed. Without curves a tenth is read, or less."""
        order = "order by dataset, backbone, method, key, seed"
        # one short look a run: a sweep goes on meanwhile, and this reader holds one run at a time
        for (row,) in self._ask(f"select rowid from runs where status = 'done' {order}"):
            ((key, text),) = self._ask("select key, record from runs where rowid = ?", (row,))
            record = json.loads(text)
            if not curves:
                record.pop("history", None)
            elif "history" not in record:
                ((history,),) = self._ask("select history from curves where key = ?", (key,))
                record["history"] = json.loads(history)
            yield RunRecord.from_json(record)

    def failures(self, specs: Iterable[RunSpec] | None = None) -> list[Failure]:
        """Every failed run, or those of `specs` as they would be run today."""
        rows = self._ask("select key, spec, error from runs where status = 'failed' order by at")
        asked = None if specs is None else {self.key_of(spec) for spec in specs}
        return [Failure(RunSpec.from_json(spec), error) for key, spec, error in rows if asked is None or key in asked]

    def export_lines(self, path: str | Path, *, history: bool = False) -> int:
        """Every finished run as a line of JSON; how many."""
        return write_lines(self.records(curves=history), Path(path), history=history)

    def export_csv(self, path: str | Path) -> int:
        """Every finished run as a row, without settings and curves; how many."""
        return write_rows(self.records(curves=False), Path(path))

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            (store_file.close_written if self._writes else sqlite3.Connection.close)(self._file)
        self._file, self._writes = None, False

    def _to_read(self) -> sqlite3.Connection | None:
        if self._file is None and Path(self.path).exists():
            self._file = store_file.open_to_read(self.path)
        return self._file

    def _to_write(self) -> sqlite3.Connection:
        if self._file is None or not self._writes:
            self.close()
            with self._refused(_WRITABLE):
                self._file, self._writes = store_file.open_to_write(self.path), True
        return self._file

    def _ask(self, words: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """All at once: nothing is locked when it is looked at. Nothing where there are no runs yet."""
        with self._refused("a whole run store"):
            file = self._to_read()
            return file.execute(words, values).fetchall() if file is not None and tables(file) else []

    @contextmanager
    def _refused(self, rule: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as wrong:
            raise RequestError(f"store must be {rule}; got {str(self.path)!r} ({wrong})") from wrong


def read_records(path: str | Path, *, curves: bool = True) -> list[RunRecord]:
    """The records of a run store, of a file of JSON lines, or of all such files in a folder."""
    path = Path(path)
    if path.is_dir():
        found = sorted([*path.glob("*.sqlite"), *path.glob("*.jsonl")])
        return [record for file in found for record in read_records(file, curves=curves)]
    if not path.is_file():
        raise RequestError(
            f"records must be a run store, a .jsonl file or a folder of them, as `mhaug sweep` makes them; "
            f"there is no {str(path)!r}"
        )
    if path.suffix == ".jsonl":
        return [record if curves else replace(record, history={}) for record in read_lines(path)]
    store = RunStore(path)
    try:
        return list(store.records(curves=curves))
    finally:
        store.close()
