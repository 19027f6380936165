"""What every method that learns in batches promises: the contract of `tests/methods/test_contract.py`, in batches."""

import pytest
import torch

from methods.problems import planted_task
from mhaug import NodeClassifier, NodeTask
from mhaug.backbones.catalogue import BACKBONES
from mhaug.checks import RequestError
from mhaug.methods.augmented_method import AugmentedMethod
from mhaug.methods.catalogue import METHODS
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.training.fit import fit
from mhaug.training.plan import Plan, every_setting
from mhaug.training.result import FitConfig

IN_BATCHES = [name for name, kind in METHODS.items() if isinstance(kind, type) and issubclass(kind, AugmentedMethod)]
SHORT = {"max_updates": 24, "weight_decay": 0.0}


def begin(method: str, backbone: str = "gcn", *, seed: int = 0, task: NodeTask | None = None, **settings):
    task = task or planted_task()
    batching = {"batch_size": 8, "fan_outs": (4, 3), **settings}
    plan = Plan.of(backbone, method, {"hidden": 16, **batching})
    network = plan.network(8, 3, seed=seed)
    return plan.begin_in_batches(task, LargeGraph.of(task.graph), network, seed=seed)


def test_the_methods_of_the_ablation_learn_in_batches():
    names = {"vanilla", "drop-edge", "drop-node", "uda", "fixed-rates", "mh-aug", "mh-aug-no-reg"}
    assert set(IN_BATCHES) == names
    with pytest.raises(RequestError, match=r"'method in batches' must be one of vanilla, drop-edge.*; got 'grand'"):
        NodeClassifier("grand", batch_size=8)


@pytest.mark.parametrize("method", IN_BATCHES)
def test_learns(method):
    """Forty updates tell most of the hidden groups; guessing would get a third."""
    backbone = list(BACKBONES)[IN_BATCHES.index(method) % 3]
    result = fit(planted_task(), begin(method, backbone, dropout=0.2), FitConfig(max_updates=40, weight_decay=0.0))
    assert result.test_accuracy > 0.75


@pytest.mark.parametrize("method", IN_BATCHES)
def test_same_seed_same_numbers(method):
    runs = [fit(planted_task(), begin(method, seed=seed), FitConfig(**SHORT)).history for seed in (3, 3, 4)]
    assert runs[0] == runs[1]
    assert runs[0]["loss_total"] != runs[2]["loss_total"]


class KilledError(Exception):
    """What a kill looks like to the loop."""


@pytest.mark.parametrize("method", IN_BATCHES)
def test_resumes_in_the_middle_of_a_sample(method, tmp_path):
    """Killed after seven updates, with five batches a sample and every third evaluated: all is half done."""
    config, path = FitConfig(**SHORT, evaluate_every=3), tmp_path / "checkpoint.safetensors"
    whole = fit(planted_task(), begin(method, batches_per_sample=5), config)

    def kill(progress) -> None:
        if progress.updates == 7:
            raise KilledError

    killed = begin(method, batches_per_sample=5)
    with pytest.raises(KilledError):
        fit(planted_task(), killed, config, checkpoint=path, checkpoint_every=7, report=kill)
    resumed = fit(planted_task(), begin(method, seed=9, batches_per_sample=5), config, checkpoint=path)
    assert resumed.history == whole.history
    assert resumed.test_accuracy == whole.test_accuracy


def test_in_batches_evaluations_are_rare_unless_somebody_says_so():
    """Each is a pass over all nodes. What is not named counts for a run's key as what it is."""
    named = {"batch_size": 8, "evaluate_every": 1}
    assert Plan.of("gcn", "vanilla", {}).config.evaluate_every == 1
    assert Plan.of("gcn", "vanilla", {"batch_size": 8}).config.evaluate_every == 50
    assert Plan.of("gcn", "vanilla", named).config.evaluate_every == 1
    assert every_setting("gcn", "vanilla", {"batch_size": 8})["evaluate_every"] == 50
    assert every_setting("gcn", "vanilla", named)["evaluate_every"] == 1


def test_an_update_of_whole_neighbourhoods_is_that_of_the_whole_graph():
    """All labelled nodes, all neighbours, no dropout: both loops have the same gradients, to rounding."""
    settings = {"dropout": 0.0, "weight_decay": 0.0, "max_updates": 10, "hidden": 16}
    batched = {"batch_size": 120, "fan_outs": -1, "evaluate_every": 1}
    for method in IN_BATCHES:
        plain = NodeClassifier(method, **settings).fit(planted_task()).result_
        cut = NodeClassifier(method, **settings, **batched).fit(planted_task()).result_
        assert cut.history["loss_total"] == pytest.approx(plain.history["loss_total"], rel=1e-4)
        assert cut.history["validation_accuracy"] == plain.history["validation_accuracy"]


def test_the_chain_reads_the_entropy_of_the_last_evaluation():
    learner = begin("mh-aug", entropy="live")
    learner.step(50)
    first = learner.state_dict()["entropy"]
    with torch.no_grad():
        next(learner.model.parameters()).mul_(3.0)
    learner.step(50)
    assert torch.equal(learner.state_dict()["entropy"], first)
    learner.predict()
    assert not torch.equal(learner.state_dict()["entropy"], first)
    frozen = begin("mh-aug", entropy="frozen")
    frozen.predict()
    before = frozen.state_dict()["entropy"]
    with torch.no_grad():
        next(frozen.model.parameters()).mul_(3.0)
    frozen.predict()
    assert torch.equal(frozen.state_dict()["entropy"], before)


def test_candidates_are_counted_once_for_the_batches_of_a_sample():
    learner = begin("uda", batches_per_sample=3)
    assert [learner.step(10).proposals for _ in range(7)] == [1, 0, 0, 1, 0, 0, 1]


def test_batches_go_through_all_labelled_nodes():
    """Fifteen labelled nodes in batches of eight and seven; every epoch has each once, in another order."""
    order = begin("vanilla")._labelled
    epochs = [torch.cat([order.batch(2 * e, seed=0), order.batch(2 * e + 1, seed=0)]) for e in range(3)]
    labelled = planted_task().split.train.nonzero().squeeze(1)
    assert all(torch.equal(epoch.sort().values, labelled) for epoch in epochs)
    assert not torch.equal(epochs[0], epochs[1])
    assert torch.equal(order.batch(0, seed=0), epochs[0][:8])  # going back is allowed


def test_the_classifier_is_saved_with_its_batches(tmp_path):
    clf = NodeClassifier("mh-aug", batch_size=8, fan_outs=(4, 3), max_updates=5, evaluate_every=5).fit(planted_task())
    clf.save(tmp_path)
    again = NodeClassifier.load(tmp_path)
    assert torch.allclose(again.predict_proba(planted_task()), clf.predict_proba(planted_task()))
    # the whole graph at once gives the same
    plain = NodeClassifier.load(tmp_path)
    plain.settings["batch_size"] = None
    assert torch.allclose(plain.predict_proba(planted_task()), clf.predict_proba(planted_task()), atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"batch_size": 0}, "'batch_size' must be a whole number of at least 1"),
        ({"batch_size": 8, "fan_outs": "15,x"}, "'fan_outs' must be whole numbers like 15,10"),
        ({"batch_size": 8, "fan_outs": (0, 1)}, "'fan_outs' must be whole numbers, one a hop"),
        ({"batch_size": 8, "batches_per_sample": 0}, "'batches_per_sample'"),
        ({"evaluate_every": 0}, "'evaluate_every'"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(RequestError, match=words):
        NodeClassifier("vanilla", **settings)


def test_fan_outs_are_one_a_layer():
    with pytest.raises(RequestError, match="'fan_outs' must be one number for each of the 3 layers"):
        NodeClassifier("vanilla", batch_size=8, fan_outs=(4, 3), layers=3).fit(planted_task())
    NodeClassifier("vanilla", batch_size=8, fan_outs=4, layers=3, max_updates=1).fit(planted_task())
