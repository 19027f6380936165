"""What a run store does to its file: readers beside a writer, earlier stores, files of other people."""

import json
import sqlite3
import time

import pytest

from experiments.some_records import curves, record, runs
from mhaug import RunSpec
from mhaug.checks import RequestError
from mhaug.experiments import run_key
from mhaug.experiments.store import Failure, RunStore, read_records

# as stores were before curves had a table of their own
EARLIER = """
create table runs (
    key text primary key, dataset text not null, backbone text not null, method text not null, seed integer not null,
    status text not null, spec text not null, record text, error text, at text not null default (datetime('now'))
)"""


def earlier_store(path, records, failures=()):
    with sqlite3.connect(path) as file:
        file.execute(EARLIER)
        for each in [*records, *failures]:
            spec, status = each.spec, "failed" if isinstance(each, Failure) else "done"
            text, error = (None, each.error) if status == "failed" else (json.dumps(each.to_json()), None)
            row = (run_key.earlier_key_of(spec), spec.dataset, spec.backbone, spec.method, spec.seed, status)
            file.execute(
                "insert into runs (key, dataset, backbone, method, seed, status, spec, record, error) "
                "values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, json.dumps(spec.to_json()), text, error),
            )
    file.close()


def test_someone_who_reads_does_not_stop_the_writer(tmp_path):
    store = RunStore(tmp_path / "runs.sqlite")
    store.add(record(0.8))
    reader = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
    reader.execute("begin")
    assert len(reader.execute("select * from runs").fetchall()) == 1
    begun = time.monotonic()
    store.add(record(0.9, seed=1))
    assert time.monotonic() - begun < 3
    assert len(list(RunStore(tmp_path / "runs.sqlite").records())) == 2
    reader.close()


def test_a_lock_that_is_let_go_of_is_waited_for(tmp_path, monkeypatch):
    from mhaug.experiments import store_file

    monkeypatch.setattr(store_file, "PATIENCE", 0.0)
    store = RunStore(tmp_path / "runs.sqlite")
    store.add(record(0.8))
    other = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
    other.execute("begin immediate")
    monkeypatch.setattr(store_file.time, "sleep", lambda seconds: other.execute("commit"))
    store.add(record(0.9, seed=1))
    assert len(list(store.records())) == 2


def test_curves_are_read_by_those_who_want_them(tmp_path):
    store = RunStore(tmp_path / "runs.sqlite")
    store.add(record(0.8, history=curves()))
    store.close()
    with sqlite3.connect(tmp_path / "runs.sqlite") as file:
        assert "history" not in file.execute("select record from runs").fetchone()[0]
    assert read_records(tmp_path / "runs.sqlite")[0].history == curves()
    assert read_records(tmp_path / "runs.sqlite", curves=False)[0].history == {}


def test_one_sweep_at_a_time(tmp_path):
    first, second = RunStore(tmp_path / "runs.sqlite"), RunStore(tmp_path / "runs.sqlite")
    with first.alone():
        with pytest.raises(RequestError, match="store must be used by one sweep at a time"), second.alone():
            pass
        with first.alone():
            first.add(record(0.8))
    with second.alone():
        assert len(list(second.records())) == 1
    # one plain file, and the lock that nobody holds
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs.sqlite", "runs.sqlite.lock"]


def test_an_earlier_store_is_read_as_it_is_and_gone_on_with(tmp_path):
    path = tmp_path / "runs.sqlite"
    old, unlucky = runs([0.8, 0.7], history=curves()), RunSpec("cora", method="vanilla", seed=2)
    # one whose settings were renamed since
    renamed = RunSpec.from_json({**unlucky.to_json(), "method": "magic", "settings": {"spell": 3}})
    earlier_store(path, old, [Failure(unlucky, "no luck"), Failure(renamed, "no luck")])
    before = path.read_bytes()
    by_seed = lambda records: sorted(records, key=lambda each: each.spec.seed)  # noqa: E731
    assert by_seed(read_records(path)) == old
    assert all(each.history == {} for each in read_records(path, curves=False))
    assert path.read_bytes() == before
    store = RunStore(path)
    with store.alone():
        assert store.waiting([*(each.spec for each in old), unlucky], retry_failed=True) == [unlucky]
        store.add(record(0.9, seed=2, history=curves()))
        assert [failure.spec for failure in store.failures()] == [renamed]
    assert by_seed(read_records(path))[:2] == old


def test_reading_leaves_other_peoples_files_alone(tmp_path):
    (tmp_path / "empty.sqlite").touch()
    with sqlite3.connect(tmp_path / "theirs.sqlite") as file:
        file.execute("create table birds (colour text)")
    file.close()
    before = (tmp_path / "theirs.sqlite").read_bytes()
    assert read_records(tmp_path / "empty.sqlite") == []
    for open_it in (read_records, lambda path: RunStore(path).add(record(0.8))):
        with pytest.raises(RequestError, match=r"store must be a run store .* \(its tables are birds\)"):
            open_it(tmp_path / "theirs.sqlite")
    assert (tmp_path / "empty.sqlite").read_bytes() == b""
    assert (tmp_path / "theirs.sqlite").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2


def test_a_store_in_haste_is_read_without_a_trace(tmp_path):
    """A copy of a store that a sweep was writing: SQLite would leave a log beside it."""
    store = RunStore(tmp_path / "runs.sqlite")
    store.add(record(0.8))
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "runs.sqlite").write_bytes((tmp_path / "runs.sqlite").read_bytes())
    assert len(read_records(tmp_path / "copy")) == 1
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["runs.sqlite"]


def test_a_store_that_cannot_be_written_is_refused_before_any_run(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "runs.sqlite", tmp_path):
        with pytest.raises(RequestError, match="store must be"), RunStore(path).alone():
            pass
