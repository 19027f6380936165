"""What every row of Table 1 promises. A new row is tested from its first day."""

from dataclasses import replace

import pytest
import torch

from methods.problems import begin, planted_task
from mhaug.backbones.catalogue import BACKBONES
from mhaug.checks import RequestError
from mhaug.methods.catalogue import METHODS, build_method, method_options
from mhaug.training.checkpoint import load_checkpoint, save_checkpoint
from mhaug.training.fit import fit
from mhaug.training.progress import Progress
from mhaug.training.result import FitConfig

SHORT = FitConfig(max_updates=40, weight_decay=0.0)
VARIANTS = [{"method": method} for method in METHODS]
VARIANTS += [{"method": "bvat", "variant": "sampled"}, {"method": "ssl", "form": "pre-train"}]
TINY = FitConfig(max_updates=3)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("method", METHODS)
def test_learns(method, backbone):
    """Forty updates tell most of the hidden groups; guessing would get a third."""
    result = fit(planted_task(), begin(method, backbone), SHORT)
    assert result.test_accuracy > 0.75
    assert result.updates == 40


@pytest.mark.parametrize("method", METHODS)
def test_leaves_its_inputs_alone(method):
    task = planted_task()
    before = {key: task.graph[key].clone() for key in ("x", "edge_index")}
    labels, train = task.labels.clone(), task.split.train.clone()
    learner = begin(method)
    for _ in range(3):
        learner.step(20)
    learner.predict()
    assert all(torch.equal(task.graph[key], value) for key, value in before.items())
    assert torch.equal(task.labels, labels)
    assert torch.equal(task.split.train, train)


@pytest.mark.parametrize("method", METHODS)
def test_node_numbers_may_be_short(method):
    task = planted_task()
    graph = task.graph.clone()
    graph.edge_index = graph.edge_index.int()
    runs = [fit(each, begin(method, task=each), TINY).history for each in (task, replace(task, graph=graph))]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_numbers(method):
    runs = [fit(planted_task(), begin(method, seed=seed), SHORT).history for seed in (3, 3, 4)]
    assert runs[0] == runs[1]
    assert runs[0]["loss_total"] != runs[2]["loss_total"]


@pytest.mark.parametrize("options", VARIANTS, ids=lambda options: " ".join(map(str, options.values())))
def test_draws_of_the_method_come_from_its_seed(options):
    """Without dropout nothing asks torch's global generator."""
    runs = []
    for noise in (1, 2):
        learner = begin(**options, dropout=0.0)
        torch.manual_seed(noise)
        runs.append([learner.step(20).losses.detached() for _ in range(3)])
    assert runs[0] == runs[1]


@pytest.mark.parametrize("method", METHODS)
def test_resumes_from_a_checkpoint(method, tmp_path):
    whole = fit(planted_task(), begin(method), SHORT)
    path = tmp_path / "checkpoint.safetensors"
    fit(planted_task(), begin(method), FitConfig(max_updates=17, weight_decay=0.0), checkpoint=path)
    resumed = fit(planted_task(), begin(method, seed=9), SHORT, checkpoint=path)
    assert resumed.history == whole.history
    assert resumed.test_accuracy == whole.test_accuracy


@pytest.mark.parametrize("method", METHODS)
def test_predicts_without_dropout_and_leaves_the_streams_alone(method):
    learner = begin(method)
    learner.step(20)
    state = torch.get_rng_state()
    first, second = learner.predict(), learner.predict()
    assert torch.equal(first, second)
    assert first.shape == (120, 3)
    assert not first.requires_grad
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("method", METHODS)
def test_checkpoint_of_another_network_is_refused(method, tmp_path):
    learner = begin(method)
    optimiser = torch.optim.Adam(learner.model.parameters())
    save_checkpoint(tmp_path / "c.safetensors", learner, optimiser, Progress())
    other = begin(method, "sage")
    with pytest.raises(RequestError, match="checkpoint must be one of this very run"):
        load_checkpoint(tmp_path / "c.safetensors", other, torch.optim.Adam(other.model.parameters()))


def test_unknown_names_list_what_is_allowed():
    with pytest.raises(RequestError, match=r"'method' must be one of vanilla, drop-edge.*; got 'magic'"):
        build_method("magic")
    with pytest.raises(RequestError, match="'settings of method drop-edge' must be one of edge_rate; got 'rate'"):
        build_method("drop-edge", rate=0.1)
    assert method_options("vanilla") == ()


@pytest.mark.parametrize(
    ("method", "settings", "words"),
    [
        ("drop-edge", {"edge_rate": 1.5}, "'edge_rate' must be a number in"),
        ("drop-node", {"node_rate": -0.1}, "'node_rate'"),
        ("uda", {"temperature": 0.0}, "'temperature'"),
        ("mh-aug", {"edge_strength": 2}, "'strength' must be a number in"),
        ("mh-aug", {"consistency_weight": -1}, "'consistency_weight'"),
        ("mh-aug", {"train_on": "never"}, "'train_on' must be one of accepted, every-step"),
        ("mh-aug-no-reg", {"entropy": "warm"}, "'entropy' must be one of live, frozen"),
        ("mh-aug-no-reg", {"supervised_on": "none"}, "'supervised_on' must be one of original, previous, current"),
    ],
)
def test_bad_settings(method, settings, words):
    with pytest.raises(RequestError, match=words):
        build_method(method, **settings)
