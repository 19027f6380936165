"""The run store: each finished run once, failed ones replaced, exports that read back."""

import csv
import sqlite3

import pytest

from mhaug import RunSpec, run
from mhaug.checks import RequestError
from mhaug.experiments.run_key import key_of
from mhaug.experiments.store import Failure, RunStore, read_records

TINY = {"max_updates": 5, "hidden": 8}
SPECS = [RunSpec("planted-partition", method="vanilla", seed=seed, settings=TINY) for seed in range(2)]


@pytest.fixture(scope="module")
def records():
    return [run(spec) for spec in SPECS]


def test_a_finished_run_is_kept_once_and_comes_back_whole(tmp_path, records):
    store = RunStore(tmp_path / "new" / "runs.sqlite")
    for record in [*records, records[0]]:
        store.add(record)
    store.add(Failure(SPECS[0], "too late"))
    assert sorted(store.records(), key=lambda record: record.spec.seed) == records
    assert store.failures() == []
    store.close()
    assert len(list(RunStore(tmp_path / "new" / "runs.sqlite").records())) == 2


def test_waiting_skips_what_is_there_and_failed_runs_can_be_tried_again(records):
    store = RunStore(":memory:")
    store.add(Failure(SPECS[1], "no luck"))
    assert store.waiting([*SPECS, SPECS[0]]) == [SPECS[0]]
    assert store.waiting(SPECS, retry_failed=True) == SPECS
    store.add(records[1])
    assert store.failures() == []
    assert store.waiting(SPECS, retry_failed=True) == [SPECS[0]]


def test_other_presets_make_another_run(monkeypatch):
    from mhaug.experiments import spec

    before = key_of(SPECS[0])
    monkeypatch.setattr(spec, "preset_settings", lambda *cell: {"max_updates": 2000, "dropout": 0.9})
    assert key_of(SPECS[0]) != before


def test_exports_read_back(tmp_path, records):
    store = RunStore(":memory:")
    for record in records:
        store.add(record)
    assert store.export_lines(tmp_path / "runs.jsonl", history=True) == 2
    assert sorted(read_records(tmp_path), key=lambda record: record.spec.seed) == records
    store.export_csv(tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["seed"] for row in rows} == {"0", "1"}
    assert float(rows[0]["test_accuracy"]) in {record.test_accuracy for record in records}


def test_what_is_no_store_is_refused(tmp_path):
    (tmp_path / "notes.sqlite").write_text("these are words, not a database, and long enough to be one")
    with pytest.raises(RequestError, match="store must be a run store"):
        RunStore(tmp_path / "notes.sqlite")
    with sqlite3.connect(tmp_path / "other.sqlite") as file:
        file.execute("create table runs (colour text)")
    with pytest.raises(RequestError, match=r"store must be a whole run store; got .* \(no such column: status\)"):
        read_records(tmp_path / "other.sqlite")
    with pytest.raises(RequestError, match="records must be a run store"):
        read_records(tmp_path / "missing")
    (tmp_path / "half.jsonl").write_text('\n{"spec": {"dataset": "cor')
    with pytest.raises(RequestError, match=r"records must have a whole record on every line; got .*, line 2"):
        read_records(tmp_path / "half.jsonl")
