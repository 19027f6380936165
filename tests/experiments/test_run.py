"""Runs that are decided by their spec, and survive a kill."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from mhaug import RunRecord, RunSpec, run
from mhaug.checks import RequestError
from mhaug.distributed.world import RankLostError
from mhaug.experiments.run import claimed

TINY = {"max_updates": 30, "hidden": 8}


def numbers(record: RunRecord) -> dict:
    """Everything but the clock."""
    return {name: value for name, value in record.to_json().items() if name != "seconds"}


def test_a_spec_is_a_key_and_json():
    spec = RunSpec("planted-partition", "gcn", "mh-aug", 3, settings={"hidden": 8, "dropout": 0.1})
    assert spec == RunSpec("planted-partition", "gcn", "mh-aug", 3, settings={"dropout": 0.1, "hidden": 8})
    assert len({spec, RunSpec.from_json(json.dumps(spec.to_json()))}) == 1
    assert spec.all_settings()["learning_rate"] == 0.01
    batched = RunSpec("planted-partition", settings={"batch_size": 64, "fan_outs": [15, 10]})
    assert len({batched, RunSpec.from_json(json.dumps(batched.to_json()))}) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "magic"}, "'method' must be one of"),
        ({"backbone": "mlp"}, "'backbone' must be one of gcn, sage, gat; got 'mlp'"),
        ({"seed": -1}, "'seed'"),
        ({"split": "mine"}, "'split' must be one of public, random"),
        ({"settings": {"heads": 3}}, "'settings of mh-aug with gcn'"),
        ({"settings": {"hidden": -3}}, "'hidden' must be a whole number of at least 1; got -3"),
        ({"settings": {"hidden": [1, 2]}}, r"'hidden' must be a whole number of at least 1; got \(1, 2\)"),
        (
            {"settings": {"hidden": {"a": 1}}},
            "'hidden' must be a number, a word, true, false",
        ),
        ({"settings": {"layers": 0}}, "'layers' must be a whole number"),
        ({"settings": {"dropout": 2}}, r"'dropout' must be a number in \[0, 1\]; got 2"),
        ({"backbone": "gat", "settings": {"hidden": 12}}, "'hidden' must be a multiple of the 8 heads; got 12"),
        ({"method": ["vanilla"]}, "'method' must be one of"),
    ],
)
def test_a_wrong_spec_fails_at_once(options, words):
    with pytest.raises(RequestError, match=words):
        RunSpec(**options)


def test_a_record_round_trips():
    record = run(RunSpec("planted-partition", settings=TINY))
    assert record.test_accuracy > 0.5
    assert record.versions["torch"]
    assert RunRecord.from_json(json.dumps(record.to_json())) == record


def test_what_is_not_a_number_is_null_in_a_record_and_comes_back(tmp_path):
    record = run(RunSpec("planted-partition", method="vanilla", settings=TINY))
    bare = replace(record, test_accuracy=math.nan, history={"test_accuracy": [math.nan, 0.5]})
    text = json.dumps(bare.to_json(), allow_nan=False)
    assert '"test_accuracy": null' in text
    assert str(RunRecord.from_json(text)) == str(bare)


def test_a_folder_of_an_earlier_version_is_the_same_run(tmp_path):
    """Its note says nothing of defaults."""
    spec = RunSpec("planted-partition", method="vanilla", settings=TINY)
    first = run(spec, out=tmp_path)
    (tmp_path / "spec.json").write_text(json.dumps({**spec.to_json(), "settings": spec.given_settings()}))
    assert run(spec, out=tmp_path) == first


def test_a_finished_run_is_read_not_repeated(tmp_path):
    spec = RunSpec("planted-partition", method="vanilla", settings=TINY)
    first = run(spec, out=tmp_path)
    assert run(spec, out=tmp_path) == first
    assert not (tmp_path / "checkpoint.safetensors").exists()
    with pytest.raises(RequestError, match=r"holds another run \(seed 0 there, 1 here\); give another out"):
        run(RunSpec("planted-partition", method="vanilla", seed=1, settings=TINY), out=tmp_path)


def test_a_graph_that_has_changed_is_said_in_words(tmp_path):
    (tmp_path / "graph").mkdir()
    edges = tmp_path / "graph" / "edges.csv"
    edges.write_text("source,target\na,b\n")
    spec = RunSpec(str(tmp_path / "graph"), method="vanilla", settings=TINY)
    claimed(tmp_path / "run", spec)
    edges.write_text("source,target\na,c\n")
    with pytest.raises(RequestError, match=r"run \(the graph's file has changed\); give another out \(--out\)"):
        claimed(tmp_path / "run", spec)


@pytest.mark.parametrize(
    ("name", "value"),
    [("weight_averaging", 0.9), ("edge_strength_slope", 0.5), ("node_strength_slope", -0.2), ("chain_parts", 2)],
)
def test_settings_that_came_later_are_another_run_too(tmp_path, name, value):
    """The note of a run that does not have them leaves them out."""
    batches = {"batch_size": 16, "accept": "blocks", "moves": "mixture"} if name == "chain_parts" else {}
    plain = RunSpec("planted-partition", settings={"max_updates": 2, **batches})
    other = RunSpec("planted-partition", settings={"max_updates": 2, **batches, name: value})
    for folder, mine, theirs in (("one", plain, other), ("two", other, plain)):
        note = claimed(tmp_path / folder, mine) / "spec.json"
        before = note.read_text()
        with pytest.raises(RequestError, match=rf"holds another run \({name} "):
            claimed(tmp_path / folder, theirs)
        assert note.read_text() == before
        claimed(tmp_path / folder, mine)


@pytest.mark.parametrize("method", ["mh-aug", "uda"])
def test_a_killed_run_goes_on_with_the_same_numbers(tmp_path, method):
    """SIGKILL in mid-run, then the same call again: bit for bit what an uninterrupted run gives."""
    settings = {"max_updates": 400, "hidden": 8}
    spec = RunSpec("planted-partition", method=method, seed=2, settings=settings)
    code = (
        "import torch; torch.set_num_threads(1)\n"
        "from mhaug import RunSpec, run\n"
        f"spec = RunSpec.from_json({json.dumps(spec.to_json())!r})\n"
        f"run(spec, out={str(tmp_path / 'killed')!r}, checkpoint_every=5)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], env=os.environ)
    checkpoint = tmp_path / "killed" / "checkpoint.safetensors"
    while not checkpoint.exists():
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed" / "record.json").exists()
    resumed = run(spec, out=tmp_path / "killed", checkpoint_every=5)
    whole = run(spec, out=tmp_path / "whole")
    assert numbers(resumed) == numbers(whole)


def test_a_lost_rank_says_how_to_go_on(tmp_path, monkeypatch):
    """A checkpoint is named where there is one, and not before."""
    spec, hints = RunSpec("planted-partition", method="vanilla", settings=TINY), []
    for out, saved in ((None, False), (tmp_path, False), (tmp_path, True)):

        def lose(*_, checkpoint, saved=saved, **__):
            if saved:
                checkpoint.touch()
            raise RankLostError("rank 0 of 2 lost another rank (gone)")

        monkeypatch.setattr("mhaug.estimator.NodeClassifier.fit", lose)
        with pytest.raises(RankLostError) as lost:
            run(spec, out=out)
        hints.append(str(lost.value).removeprefix("rank 0 of 2 lost another rank (gone); the run ends here, "))
    assert hints == [
        "with --out it could have gone on, on any number of ranks",
        "before anything was saved: start it again",
        f"start it again to go on from {tmp_path / 'checkpoint.safetensors'}, on any number of ranks",
    ]


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    for out in (tmp_path / "file", tmp_path / "file" / "seed-0"):
        with pytest.raises(RequestError, match="'out' must be a folder, or a place for one; got"):
            run(RunSpec("planted-partition", settings=TINY), out=out)
