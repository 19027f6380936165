"""The file itself; that a resumed run has the numbers of a whole one is in the contract of the methods."""

import os

import pytest
import torch

from methods.problems import planted_task
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.training import checkpoint
from mhaug.training.checkpoint import load_checkpoint, save_checkpoint
from mhaug.training.fit import fit
from mhaug.training.plan import Plan
from mhaug.training.progress import Progress
from mhaug.training.result import FitConfig


def learner_in_batches(**settings):
    task = planted_task()
    plan = Plan.of("gcn", "mh-aug", {"hidden": 8, "batch_size": 8, "batches_per_sample": 8, **settings})
    return plan.begin_in_batches(task, LargeGraph.of(task.graph), plan.network(8, 3, seed=0), seed=0)


def test_a_rejection_in_the_middle_of_a_sample(tmp_path):
    """After one the two views of the sample are one and the same, and the file has both."""
    path, learner = tmp_path / "checkpoint.safetensors", learner_in_batches(train_on="every-step")
    for _ in range(400):
        step = learner.step(1)
        if not step.accepted and learner._sample.views["previous"] is learner._sample.views["current"]:
            break
    views = learner._sample.views
    assert views["previous"].edge_kept.data_ptr() == views["current"].edge_kept.data_ptr()
    save_checkpoint(path, learner, torch.optim.Adam(learner.model.parameters()), Progress())
    other = learner_in_batches(train_on="every-step")
    load_checkpoint(path, other, torch.optim.Adam(other.model.parameters()))
    for name in ("previous", "current"):
        assert torch.equal(other._sample.views[name].edge_kept, views[name].edge_kept)


def test_others_can_read_it_as_any_file(tmp_path):
    learner = learner_in_batches()
    before = os.umask(0o022)
    try:
        save_checkpoint(tmp_path / "c", learner, torch.optim.Adam(learner.model.parameters()), Progress())
    finally:
        os.umask(before)
    assert (tmp_path / "c").stat().st_mode & 0o777 == 0o644


def test_a_failure_leaves_no_half_file(tmp_path, monkeypatch):
    learner = learner_in_batches()
    monkeypatch.setattr(checkpoint, "_plain", lambda tensors: {"a": torch.zeros(2), "b": "no tensor"})
    with pytest.raises(Exception, match="str"):
        save_checkpoint(tmp_path / "c", learner, torch.optim.Adam(learner.model.parameters()), Progress())
    assert list(tmp_path.iterdir()) == []


def test_updates_that_are_slow_are_saved_by_the_clock(tmp_path, monkeypatch):
    """A stopped clock and one that has always run out; the last save is that of the end."""
    saves = []
    monkeypatch.setattr("mhaug.training.fit.save_checkpoint", lambda *words, **_: saves.append(words[3].updates))
    for seconds, expected in ((1e9, [4]), (0.0, [1, 2, 3, 4])):
        monkeypatch.setattr("mhaug.training.schedule.SECONDS", seconds)
        saves.clear()
        fit(planted_task(), learner_in_batches(), FitConfig(max_updates=4), checkpoint=tmp_path / "c")
        assert sorted(set(saves)) == expected
