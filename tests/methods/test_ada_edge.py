"""The edits of AdaEdge: what is added and removed."""

from dataclasses import replace

import pytest
import torch

from methods.problems import begin, planted_task
from mhaug.checks import RequestError
from mhaug.methods.catalogue import build_method
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.training.fit import fit
from mhaug.training.result import FitConfig

EDGES = KnownPairs.of(planted_task().graph.edge_index, 120)


def with_predictions(learner, classes, confidence):
    """The same learner, with a network that predicts so."""
    probability = torch.stack([confidence, 1.0 - confidence], 1)
    # two classes: those of class 1 the other way round
    logits = probability.where(classes.unsqueeze(1) == 0, probability.flip(1)).log()
    learner.predict = lambda: logits
    return learner


def half(confidence: float = 0.99):
    """Nodes 0..59 are of class 0 and the others of class 1, all as sure."""
    return (torch.arange(120) >= 60).long(), torch.full((120,), confidence)


def crossing(pairs):
    return (pairs[0] < 60) != (pairs[1] < 60)


@pytest.mark.parametrize("prefer", ["random", "surest"])
def test_one_edit(prefer):
    learner = with_predictions(begin("ada-edge", add_share=0.1, remove_share=1.0, prefer=prefer), *half())
    learner.edit()
    model = learner.model
    assert torch.equal(model.kept, ~crossing(model.units.unit_edges))
    assert model.added_pairs.shape[1] == int(0.1 * EDGES.count)
    assert not crossing(model.added_pairs).any()
    assert not EDGES.contains(model.added_pairs).any()
    assert torch.equal(KnownPairs.of(model.graph.edge_index, 120).keys, model.pairs.keys)
    assert model.pairs.count == int(model.kept.sum()) + model.added_pairs.shape[1]


def test_each_threshold_is_for_its_own_step():
    """The re-implementation that others copied tests the removals by the threshold of the additions."""
    only_add = begin("ada-edge", add_confidence=0.5, remove_confidence=0.9)
    with_predictions(only_add, *half(0.8)).edit()
    assert only_add.model.kept.all()
    assert only_add.model.added_pairs.shape[1] > 0
    only_remove = begin("ada-edge", add_confidence=0.9, remove_confidence=0.5)
    with_predictions(only_remove, *half(0.8)).edit()
    assert not only_remove.model.kept.all()
    assert only_remove.model.added_pairs.shape[1] == 0


def test_the_surest_cross_edges_go_first():
    classes, confidence = half(0.9)
    first = int(EDGES.index[:, crossing(EDGES.index)][0, 0])
    confidence[first] = 0.99
    learner = with_predictions(
        begin("ada-edge", remove_share=1 / EDGES.count, add_share=0.0, remove_confidence=0.5), classes, confidence
    )
    learner.edit()
    gone = learner.model.units.unit_edges[:, ~learner.model.kept]
    assert gone.shape[1] == 1
    assert first in gone


def test_edits_add_up_and_an_added_pair_can_go_again():
    learner = with_predictions(begin("ada-edge", rounds=4, add_share=0.1, remove_share=1.0), *half())
    learner.edit()
    before = learner.model.added_pairs
    learner.edit()
    assert learner.model.added_pairs.shape[1] == 2 * before.shape[1]
    assert KnownPairs.of(learner.model.added_pairs, 120).contains(before).all()
    classes = torch.arange(120) % 2
    with_predictions(learner, classes, torch.full((120,), 0.99)).edit()
    left = learner.model.pairs.index
    assert (classes[left[0]] == classes[left[1]]).all()


def test_one_round_is_vanilla():
    config = FitConfig(max_updates=10)
    runs = [
        fit(planted_task(), begin(name, **kw), config) for name, kw in (("vanilla", {}), ("ada-edge", {"rounds": 1}))
    ]
    assert runs[0].history["loss_total"] == runs[1].history["loss_total"]


def test_validation_and_test_labels_are_not_read():
    task = planted_task()
    hidden = replace(task, labels=task.labels.where(task.split.train, 0))
    runs = []
    for each in (task, hidden):
        learner = begin("ada-edge", add_confidence=0.4, remove_confidence=0.4)
        learner._problem = replace(learner._problem, task=each)
        runs.append(fit(task, learner, FitConfig(max_updates=30)).history)
    assert runs[0] == runs[1]


WRONG = [
    {"rounds": 0},
    {"round_updates": 0},
    {"add_share": -1.0},
    {"remove_share": 1.5},
    {"add_confidence": 1.5},
    {"remove_confidence": -0.1},
    {"prefer": "old"},
]


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(RequestError, match=f"'{next(iter(wrong))}' must be"):
        build_method("ada-edge", **wrong)
