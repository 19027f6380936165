"""Many runs through one entry point: grouped by likeness, each with its own record, none lost or repeated."""

import pytest
import torch

from mhaug import NodeClassifier, RunSpec, load_dataset
from mhaug.experiments.batch import batches, run_many
from mhaug.training.plan import Plan
from mhaug.training.replicas import group
from mhaug.training.result import NonFiniteLossError

TINY = {"max_updates": 60, "hidden": 8}


def specs(seeds=range(3), **own):
    options = {"dataset": "planted-partition", "method": "mh-aug", "settings": {**TINY, **own.pop("settings", {})}}
    return [RunSpec(**{**options, **own}, seed=seed) for seed in seeds]


def test_only_like_runs_share_a_batch():
    mixed = [*specs(), *specs(settings={"dropout": 0.1, "edge_strength": 0.9}), *specs(settings={"hidden": 16})]
    mixed += [
        *specs(split="random"),
        *specs(method="vanilla"),
        *specs(settings={"moves": "flip", "accept": "blocks"}),
    ]
    sizes = [len(batch) for batch in batches(mixed)]
    assert sizes == [6, 3, 3, 3, 1, 1, 1]
    assert [len(batch) for batch in batches(mixed, limit=4)] == [4, 2, 3, 3, 3, 1, 1, 1]


def test_records_come_with_their_own_specs_and_settings():
    asked = [*specs(), *specs(seeds=[7], settings={"edge_strength": 0.9})]
    records = dict(run_many(asked, limit=8))
    assert list(records) == asked
    assert all(record.spec == spec for spec, record in records.items())
    assert records[asked[3]].settings["edge_strength"] == 0.9
    assert len({record.history["loss_total"][-1] for record in records.values()}) == 4
    assert all(record.test_accuracy > 0.5 for record in records.values())


def test_a_batch_is_kept_run_by_run_and_not_repeated(tmp_path):
    def folder(spec):
        return tmp_path / f"seed-{spec.seed}"

    records = dict(run_many(specs(), limit=8, folder=folder))
    assert not list(tmp_path.glob("*/checkpoint*"))
    again = dict(run_many(specs(), limit=8, folder=folder))
    assert again == records
    task = load_dataset("planted-partition", seed=1)
    clf = NodeClassifier.load(tmp_path / "seed-1")
    assert clf.score(task) == pytest.approx(records[specs()[1]].test_accuracy, abs=1e-6)


def test_a_run_that_blows_up_is_reported_and_the_others_go_on():
    asked = [*specs(seeds=[0]), *specs(seeds=[1], settings={"learning_rate": 1e38}), *specs(seeds=[2])]
    outcomes = [outcome for _, outcome in run_many(asked, limit=8)]
    assert isinstance(outcomes[1], NonFiniteLossError)
    assert outcomes[0].updates == outcomes[2].updates == 60


@pytest.mark.parametrize("method", ["mh-aug", "drop-node", "vanilla"])
def test_a_killed_batch_goes_on_with_the_same_numbers(tmp_path, monkeypatch, method):
    task = load_dataset("planted-partition")
    plans = [Plan.of("gcn", method, {**TINY, "max_updates": 200})] * 2
    path = tmp_path / "checkpoint.safetensors"

    def train(**options):
        torch.manual_seed(0)
        return group.fit_together([task] * 2, plans, [0, 1], **options).results

    whole = train()

    class KilledError(Exception):
        pass

    saves = []

    def save_and_die(*arguments):
        save(*arguments)
        saves.append(1)
        if len(saves) == 2:
            raise KilledError

    save = group.files.save
    monkeypatch.setattr(group.files, "save", save_and_die)
    with pytest.raises(KilledError):
        train(checkpoint=path, checkpoint_every=30)
    monkeypatch.setattr(group.files, "save", save)
    resumed = train(checkpoint=path, checkpoint_every=30)
    assert [result.history for result in resumed] == [result.history for result in whole]
    assert resumed[0].test_accuracy == whole[0].test_accuracy


def test_a_checkpoint_of_other_runs_is_not_resumed_from(tmp_path):
    task, plan = load_dataset("planted-partition"), Plan.of("gcn", "vanilla", TINY)
    path = tmp_path / "checkpoint.safetensors"
    group.fit_together([task] * 2, [plan] * 2, [0, 1], checkpoint=path, checkpoint_every=1)
    assert path.exists()
    other = group.fit_together([task] * 2, [plan] * 2, [2, 3], checkpoint=path, checkpoint_every=1)
    fresh = group.fit_together([task] * 2, [plan] * 2, [2, 3])
    assert [r.history for r in other.results] == [r.history for r in fresh.results]
