"""BVAT: the loss, what it reads, what it needs, and both variants at work."""

from dataclasses import replace

import pytest
import torch

from methods.allocations import LargestTensor
from methods.problems import begin, planted_task
from methods.wide_problem import begin_wide, wide_task
from mhaug.backbones.catalogue import BACKBONES
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.pyg_module import PyGModule
from mhaug.checks import RequestError
from mhaug.methods.catalogue import build_method
from mhaug.methods.method import Problem
from mhaug.methods.parts.adversaries import unit_rows
from mhaug.methods.parts.perturbation import orthonormal
from mhaug.training.fit import fit
from mhaug.training.plan import Plan
from mhaug.training.replicas.group import begin_together
from mhaug.training.result import FitConfig


@pytest.mark.parametrize("space", ["product", "features"])
@pytest.mark.parametrize("variant", ["optimised", "sampled"])
def test_the_search_moves_predictions_more_than_chance(variant, space):
    """No pull to 0, and no dropout: so a probe that can be felt."""
    options = {"length_weight": 0.0, "ascent_rate": 0.05, "probe_length": 1e-2, "length": 0.3, "space": space}
    moved = {}
    for name, still in (("found", {}), ("chance", {"ascent_steps": 0, "power_iterations": 1})):
        learner = begin_wide("bvat", wide_task(), dropout=0.0, variant=variant, **{**options, **still})
        if name == "chance" and variant == "sampled":
            shape = learner._perturbation.shape
            learner._adversary.find = lambda *_, shape=shape: 0.3 * unit_rows(torch.randn(shape))
        moved[name] = learner.step(1).losses.detached()["adversarial"]
    assert moved["found"] > 2.0 * moved["chance"] > 0.0


@pytest.mark.parametrize("probe_length", [None, 1e-6])
def test_the_probe_is_felt_in_single_precision(probe_length):
    """The direction found is that of double precision. With the released 1e-6 it would not be."""
    options = {"variant": "sampled", "dropout": 0.0} | (
        {} if probe_length is None else {"probe_length": probe_length}
    )
    found = []
    for dtype in (torch.float32, torch.float64):
        learner = begin_wide("bvat", wide_task(), **options)
        graph = GraphInput.from_data(wide_task().graph, dtype=dtype)
        learner = learner._method.begin(replace(learner._problem, graph=graph), learner.model.to(dtype), seed=0)
        find = learner._adversary.find
        learner._adversary.find = lambda *given, find=find: found.append(find(*given)) or found[-1]
        learner.step(1)
    single, double = (unit_rows(one.double()) for one in found)
    alike = (single * double).sum(1).abs()[double.norm(dim=1) > 0]
    assert (float(alike.mean()) > 0.99) == (probe_length is None)


def test_the_loss_is_the_sum_of_its_terms_and_compares_with_perturbed_features():
    learner = begin_wide("bvat", wide_task(), dropout=0.0, adversarial_weight=2.0, sharpness_weight=0.3)
    change = torch.randn(learner._perturbation.shape)
    learner._adversary.find = lambda *_: change
    losses = learner.step(1).losses
    terms = losses.terms
    expected = terms["supervised"] + 2.0 * terms["adversarial"] + 0.3 * terms["sharpness"]
    torch.testing.assert_close(losses.total, expected)
    graph, network = learner._problem.graph, learner.model
    basis = orthonormal(network.layers[0].weight.detach())
    perturbed = network(graph.with_features(graph.dense_features + change @ basis.T))
    p, q = network(graph).softmax(-1), perturbed.softmax(-1)
    torch.testing.assert_close(terms["adversarial"], (p * (p / q).log()).sum(-1).mean(), rtol=1e-3, atol=1e-5)


def test_only_the_perturbed_side_has_a_gradient():
    learner = begin_wide("bvat", wide_task(), dropout=0.0, sharpness_weight=0.0, ascent_steps=0, noise=0.0)
    adversarial = learner.step(1).losses.terms["adversarial"]
    assert float(adversarial.detach()) == pytest.approx(0.0, abs=1e-6)
    gradient = torch.autograd.grad(adversarial, list(learner.model.parameters()))
    # KL[p ‖ p] has slope 0 on its second side, whatever the first
    assert all(float(part.abs().max()) < 1e-5 for part in gradient)


@pytest.mark.parametrize("variant", ["optimised", "sampled"])
def test_no_label_but_those_of_training_is_read(variant):
    task = wide_task()
    hidden = replace(task, labels=task.labels.where(task.split.train, 0))
    first, second = (begin_wide("bvat", one, variant=variant).step(1).losses.detached() for one in (task, hidden))
    assert first == second


@pytest.mark.parametrize("variant", ["optimised", "sampled"])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_nothing_of_the_size_of_the_features_is_made(backbone, variant):
    task = wide_task(features=2000)
    problem_size, hidden_size = 120 * 2000, 2000 * 16
    learner = begin_wide("bvat", task, backbone, variant=variant)
    with LargestTensor() as largest:
        learner.step(1).losses.total.backward()
    assert largest.elements <= hidden_size < problem_size / 4


@pytest.mark.parametrize("variant", ["optimised", "sampled"])
def test_both_variants_learn_and_resume(variant, tmp_path):
    """The contract has few features; here they are more than the network is wide."""
    task, options = wide_task(), {"sharpness_weight": 0.2, "variant": variant}
    whole = fit(task, begin_wide("bvat", task, **options), FitConfig(40, weight_decay=0.0))
    assert whole.test_accuracy > 0.75
    path = tmp_path / "checkpoint.safetensors"
    fit(task, begin_wide("bvat", task, **options), FitConfig(15, weight_decay=0.0), checkpoint=path)
    resumed = fit(task, begin_wide("bvat", task, seed=4, **options), FitConfig(40, weight_decay=0.0), checkpoint=path)
    assert resumed.history == whole.history


@pytest.mark.parametrize("variant", ["optimised", "sampled"])
def test_replicas_learn_with_numbers_of_their_own(variant):
    own = ({"adversarial_weight": 0.0}, {"adversarial_weight": 2.0, "length": 0.1}, {"noise": 0.02})
    settings = {"hidden": 8, "weight_decay": 0.0, "max_updates": 30, "variant": variant, "sharpness_weight": 0.2}
    plans = [Plan.of("gcn", "bvat", {**settings, **each}) for each in own]
    results = begin_together([wide_task()] * 3, plans, (0, 1, 2)).run()
    for result, weight in zip(results, (0.0, 2.0, 1.4), strict=True):
        assert result.test_accuracy > 0.7
        last = {name: row[-1] for name, row in result.history.items()}
        parts = last["loss_supervised"] + weight * last["loss_adversarial"] + 0.2 * last["loss_sharpness"]
        assert last["loss_total"] == pytest.approx(parts, rel=1e-4)


def test_without_its_weight_there_is_no_search():
    learner = begin("bvat", adversarial_weight=0.0)
    assert learner.step(1).losses.terms.keys() == {"supervised", "sharpness"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"variant": "both"}, "'variant' must be one of optimised, sampled"),
        ({"space": "hidden"}, "'space' must be one of product, features"),
        ({"noise": -1.0}, "'noise'"),
        ({"probe_length": 0.0}, "'probe_length'"),
        ({"nodes": 0}, "'nodes' must be a whole number of at least 1"),
        ({"ascent_steps": -1}, "'ascent_steps'"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(RequestError, match=words):
        build_method("bvat", **settings)


def test_a_module_of_the_users_own_is_refused():
    module = PyGModule(torch.nn.Bilinear(8, 8, 3))
    with pytest.raises(RequestError, match="'backbone' must be 'gcn', 'sage' or 'gat'"):
        build_method("bvat").begin(Problem.of(planted_task()), module, seed=0)
