"""What every row of Table 1 promises. A new row is tested from its first day."""

from dataclasses import replace

import pytest
import torch

from methods.problems import SHORT_SETTINGS, begin, planted_task
from mhaug import NodeClassifier
from mhaug.backbones.catalogue import BACKBONES
from mhaug.checks import RequestError
from mhaug.methods.catalogue import METHODS, build_method, method_options
from mhaug.training.checkpoint import load_checkpoint, save_checkpoint
from mhaug.training.fit import fit
from mhaug.training.plan import Plan
from mhaug.training.progress import Progress
from mhaug.training.replicas.group import begin_together
from mhaug.training.result import FitConfig

SHORT = FitConfig(max_updates=40, weight_decay=0.0)
VARIANTS = [{"method": method} for method in METHODS]
VARIANTS += [{"method": "bvat", "variant": "sampled"}, {"method": "ssl", "form": "pre-train"}]
# so that five updates see all that a method does: an edit of the graph, graphs that are drawn
EARLY = {
    "ada-edge": {"rounds": 2, "round_updates": 3, "add_confidence": 0.3, "remove_confidence": 0.3},
    "gaug-m": {"encoder_epochs": 10},
    "gaug-o": {"predictor_warmup": 5, "classifier_warmup": 2},
    "graph-mix": {"taught": "together"},
}
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


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("method", METHODS)
def test_predicts_what_training_evaluated(method, backbone, tmp_path):
    """Fitted, and saved and loaded: GRAND propagates first, AdaEdge and GAug-M have edges of their own."""
    task, seen = planted_task(), []
    settings = {**SHORT_SETTINGS.get(method, {}), **EARLY.get(method, {}), "hidden": 8, "max_updates": 5}
    begin_plan = Plan.begin

    def watched(*args, **options):
        seen.append(begin_plan(*args, **options))
        return seen[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Plan, "begin", watched)
        clf = NodeClassifier(method, backbone, **settings).fit(task)
    evaluated = seen[0].predict().softmax(-1)  # the learner ends with its best weights
    assert torch.equal(clf.predict_proba(task), evaluated)
    score = float((evaluated.argmax(-1) == task.labels)[task.split.test].double().mean())
    assert clf.result_.test_accuracy == pytest.approx(score, abs=1e-6)
    clf.save(tmp_path)
    assert torch.equal(NodeClassifier.load(tmp_path).predict_proba(task), evaluated)


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("method", METHODS)
def test_no_label_but_those_of_training_is_read(method, backbone):
    """Other labels of the validation and test nodes, the same weights."""
    task = planted_task()
    others = replace(task, labels=task.labels.where(task.split.train, (task.labels + 1) % 3))
    ends = [weights_after(5, begin(method, backbone, task=each, **EARLY.get(method, {}))) for each in (task, others)]
    assert all(torch.equal(value, ends[1][name]) for name, value in ends[0].items())


def weights_after(updates, learner):
    """Of the plain loop, without its choice of the best update: that one asks validation labels, and has to."""
    optimiser = torch.optim.Adam(learner.model.parameters(), lr=0.01)
    for _ in range(updates):
        optimiser.zero_grad()
        learner.step(20).losses.total.backward()
        optimiser.step()
    return learner.model.state_dict()


@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("method", [name for name in METHODS if build_method(name).side_by_side])
def test_side_by_side_no_other_label_is_read_either(method, backbone):
    task = planted_task()
    others = replace(task, labels=task.labels.where(task.split.train, (task.labels + 1) % 3))
    plans, ends = [Plan.of(backbone, method, {"hidden": 8})] * 2, []
    for each in (task, others):
        fitting = begin_together([each] * 2, plans, (0, 1))
        for _ in range(3):
            fitting.step()
        ends.append(fitting.adam.weights)
    assert torch.equal(*ends)


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
        ("mh-aug", {"edge_strength": 2}, "'edge_strength' must be a number in"),
        ("mh-aug", {"consistency_weight": -1}, "'consistency_weight'"),
        ("mh-aug", {"train_on": "never"}, "'train_on' must be one of accepted, every-step"),
        ("mh-aug-no-reg", {"entropy": "warm"}, "'entropy' must be one of live, frozen"),
        ("mh-aug-no-reg", {"supervised_on": "none"}, "'supervised_on' must be one of original, previous, current"),
    ],
)
def test_bad_settings(method, settings, words):
    with pytest.raises(RequestError, match=words):
        build_method(method, **settings)
