"""SSL: what is hidden from the network, the two forms, alone and side by side."""

import math

import pytest
import torch

from methods.allocations import LargestTensor
from methods.problems import begin, planted_task
from methods.wide_problem import begin_wide, wide_task
from mhaug.backbones.catalogue import BACKBONES, build_backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.pyg_module import PyGModule
from mhaug.checks import RequestError
from mhaug.methods.catalogue import build_method
from mhaug.methods.method import Problem
from mhaug.training.fit import fit
from mhaug.training.plan import Plan
from mhaug.training.replicas.group import begin_together
from mhaug.training.result import FitConfig

SHORT = FitConfig(max_updates=40, weight_decay=0.0)
WARM = {"form": "pre-train", "pretraining_updates": 10}


def test_with_all_features_covered_nothing_can_be_said():
    """Rows of zeros: each pair is a link with probability one half."""
    losses = begin("ssl", covering_rate=1.0, removal_weight=0.0).step(1).losses.detached()
    assert losses["covered_features"] == pytest.approx(math.log(2.0), rel=1e-6)
    assert "removed_links" not in losses


def test_with_all_links_removed_the_network_sees_none_and_has_to_predict_all():
    learner = begin("ssl", removal_rate=1.0, covering_weight=0.0, dropout=0.0)
    state = learner._draws.state()
    found = learner.step(1).losses.detached()["removed_links"]
    data = planted_task().graph.clone()
    data.edge_index = data.edge_index[:, :0]
    bare, network = GraphInput.from_data(data), learner.model
    rows = network.from_product(bare, network.first_product(bare.features), layers=1)
    learner._draws.restore(state)
    assert found == pytest.approx(float(learner._links.loss(rows, uniform=learner._draws.common).detach()), rel=1e-5)
    assert rows.shape == (120, 16)


def test_the_joint_loss_is_the_sum_of_its_terms():
    losses = begin("ssl", removal_weight=0.7, covering_weight=0.2).step(1).losses.detached()
    expected = losses["supervised"] + 0.7 * losses["removed_links"] + 0.2 * losses["covered_features"]
    assert losses["total"] == pytest.approx(expected, rel=1e-6)


def test_the_pretext_task_is_learnt():
    history = fit(planted_task(), begin("ssl", dropout=0.0), SHORT).history
    for name in ("loss_removed_links", "loss_covered_features"):
        assert history[name][-1] < 0.9 * history[name][0]


def test_pre_training_learns_links_first_and_then_labels_alone():
    history = fit(planted_task(), begin("ssl", **WARM, dropout=0.0), SHORT).history
    pretext = [
        0.5 * (a + b) for a, b in zip(history["loss_removed_links"], history["loss_covered_features"], strict=True)
    ]
    assert history["loss_total"][:10] == pytest.approx(pretext[:10], rel=1e-5)
    assert history["loss_total"][10:] == history["loss_supervised"][10:]
    assert pretext[10:] == [0.0] * 30
    assert history["test_accuracy"][-1] > 0.75


def parameters(network):
    """Of the first layer, and of the last."""
    return [[part.detach().clone() for part in layer.parameters()] for layer in network.layers]


def moved(before, after):
    return [
        any(not torch.equal(a, b) for a, b in zip(*layers, strict=True)) for layers in zip(before, after, strict=True)
    ]


def test_the_last_layer_waits_for_the_labels():
    """Weight decay moves it no more than the loss does, and its count of updates begins with the labels."""
    learner, seen = begin("ssl", **WARM), []
    start = parameters(learner.model)
    config = FitConfig(max_updates=12, weight_decay=0.05)
    fit(planted_task(), learner, config, report=lambda _: seen.append(parameters(learner.model)))
    assert [moved(start, each) for each in seen] == [[True, False]] * 10 + [[True, True]] * 2
    # Adam's first step is one learning rate long
    first = (seen[10][1][0] - start[1][0]).abs()
    assert float(first.max()) == pytest.approx(config.learning_rate, rel=1e-3)


def test_the_last_layer_waits_side_by_side():
    plan = Plan.of("gcn", "ssl", {"hidden": 16, "weight_decay": 0.05, "max_updates": 12, **WARM})
    fitting = begin_together([planted_task()] * 2, [plan] * 2, (0, 1))
    network, start = fitting.learner.model, parameters(fitting.learner.model)
    seen = []
    for _ in range(11):
        fitting.step()
        seen.append(parameters(network))
    assert [moved(start, each) for each in seen] == [[True, False]] * 10 + [[True, True]]
    first = (seen[10][1][0] - start[1][0]).abs()
    assert float(first.max()) == pytest.approx(plan.config.learning_rate, rel=1e-3)


def test_pre_training_side_by_side_keeps_the_same_time():
    """The number of updates is a tensor: also where Python does not run."""
    plan = Plan.of("gcn", "ssl", {"hidden": 16, "weight_decay": 0.0, "max_updates": 40, **WARM})
    fitting = begin_together([planted_task()] * 2, [plan] * 2, (0, 1))
    counter = fitting.learner.state_dict()["updates"]
    results = fitting.run()
    assert fitting.learner.state_dict()["updates"] is counter
    assert int(counter) >= 40
    for result in results:
        history = result.history
        assert min(history["loss_removed_links"][:10]) > 0.0
        assert history["loss_removed_links"][10:] == [0.0] * 30
        assert history["loss_total"][10:] == history["loss_supervised"][10:]
    assert sum(result.test_accuracy for result in results) / 2 > 0.75


def test_pre_training_resumes_within_and_after(tmp_path):
    whole = fit(planted_task(), begin("ssl", **WARM), SHORT)
    for stop in (5, 15):
        path = tmp_path / f"{stop}.safetensors"
        fit(planted_task(), begin("ssl", **WARM), FitConfig(stop, weight_decay=0.0), checkpoint=path)
        assert fit(planted_task(), begin("ssl", seed=3, **WARM), SHORT, checkpoint=path).history == whole.history


def test_replicas_have_rates_and_weights_of_their_own():
    own = ({"covering_rate": 1.0}, {"removal_weight": 0.0, "covering_rate": 0.0}, {"removal_rate": 0.9})
    settings = {"hidden": 8, "weight_decay": 0.0, "max_updates": 20}
    plans = [Plan.of("gcn", "ssl", {**settings, **each}) for each in own]
    results = begin_together([wide_task()] * 3, plans, (0, 1, 2)).run()
    assert results[0].history["loss_covered_features"][0] == pytest.approx(math.log(2.0), rel=1e-6)
    last = {name: row[-1] for name, row in results[1].history.items()}
    assert last["loss_total"] == pytest.approx(
        last["loss_supervised"] + 0.5 * last["loss_covered_features"], rel=1e-5
    )


@pytest.mark.parametrize("backbone", BACKBONES)
def test_sparse_features_stay_sparse(backbone):
    learner = begin_wide("ssl", wide_task(features=2000), backbone)
    with LargestTensor() as largest:
        learner.step(1).losses.total.backward()
    assert largest.elements <= 2000 * 16 < 120 * 2000 / 4


def test_a_single_layer_predicts_links_from_its_logits():
    network = build_backbone("gcn", 8, 3, layers=1)
    learner = build_method("ssl").begin(Problem.of(planted_task()), network, seed=0)
    assert math.isfinite(learner.step(1).losses.detached()["total"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"form": "both"}, "'form' must be one of joint, pre-train"),
        ({"removal_rate": 1.2}, "'removal_rate'"),
        ({"covering_weight": -1.0}, "'covering_weight'"),
        ({"negatives": 0}, "'negatives' must be a whole number of at least 1"),
        ({"pretraining_updates": -1}, "'pretraining_updates'"),
        (
            {"form": "pre-train", "removal_weight": 0.0, "covering_weight": 0.0},
            "'removal_weight' must be above 0 where",
        ),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(RequestError, match=words):
        build_method("ssl", **settings)


def test_a_module_of_the_users_own_is_refused():
    module = PyGModule(torch.nn.Bilinear(8, 8, 3))
    with pytest.raises(RequestError, match="'backbone' must be 'gcn', 'sage' or 'gat'"):
        build_method("ssl").begin(Problem.of(planted_task()), module, seed=0)
