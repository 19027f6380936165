"""GAug-M and GAug-O as methods: the changed graph, the warm-ups, who learns from what."""

import math
from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from methods.problems import begin, planted_task
from mhaug import rng
from mhaug.backbones.catalogue import build_backbone
from mhaug.backbones.pyg_module import PyGModule
from mhaug.checks import RequestError
from mhaug.methods.catalogue import build_method
from mhaug.methods.method import Problem
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.training.evaluation import accuracies
from mhaug.training.fit import fit
from mhaug.training.result import FitConfig


@pytest.mark.parametrize("backbone", ["gcn", "sage", "gat"])
def test_who_trains_the_edge_predictor(backbone):
    """With GAT the classifier's loss sends it nothing; with the others it does."""
    for share in (0.0, 1.0):
        learner = begin("gaug-o", backbone, reconstruction_weight=share, classifier_warmup=0)
        losses = learner.step(1).losses
        weights = list(learner.model.predictor.parameters())
        slopes = torch.autograd.grad(losses.total, weights, allow_unused=True)
        reached = all(slope is not None and bool(slope.any()) for slope in slopes)
        assert reached == (share > 0.0 or backbone != "gat")


def test_warm_ups():
    learner = begin("gaug-o", predictor_warmup=3, classifier_warmup=2)
    for update in range(4):
        step = learner.step(1)
        assert (float(step.losses.terms["reconstruction"].detach()) == 0.0) == (update < 2)
    losses = []
    for epochs in (0, 60):
        learner = begin("gaug-o", predictor_warmup=epochs, classifier_warmup=0)
        losses.append(float(learner.step(1).losses.terms["reconstruction"].detach()))
    assert losses[1] < losses[0]


@pytest.mark.parametrize("weight", [0.0, 0.5, 2.0])
def test_total_loss_by_hand(weight):
    """L_s + β L_r with codes of 0: each pair scores 0, both means of L_r are log 2, and so is L_r.

    The drawn graph has the known edges alone, each with probability 1 - α = 1.
    """
    settings = {"predicted_share": 0.0, "predictor_warmup": 0, "classifier_warmup": 0, "dropout": 0.0}
    learner = begin("gaug-o", reconstruction_weight=weight, **settings)
    with torch.no_grad():
        learner.model.predictor.first.zero_()
    losses = learner.step(1).losses
    problem = Problem.of(planted_task())
    logits = learner.model.backbone(problem.graph)
    supervised = torch.nn.functional.cross_entropy(logits[problem.train], problem.labels[problem.train])
    torch.testing.assert_close(losses.terms["supervised"], supervised)
    torch.testing.assert_close(losses.terms["reconstruction"], torch.tensor(math.log(2.0)))
    torch.testing.assert_close(losses.total, supervised + weight * math.log(2.0))


def test_predictions_of_gaug_o_are_on_the_original_graph():
    learner = begin("gaug-o", classifier_warmup=0)
    learner.step(1)
    assert torch.equal(learner.predict(), learner.model.backbone.eval()(Problem.of(planted_task()).graph))


@pytest.mark.parametrize("backbone", ["gcn", "gat"])
def test_proposed_pairs_learn_and_resume(backbone, tmp_path):
    settings = {"pairs": "proposed"}
    config = FitConfig(max_updates=40, weight_decay=0.0)
    whole = fit(planted_task(), begin("gaug-o", backbone, **settings), config)
    path = tmp_path / "checkpoint.safetensors"
    fit(planted_task(), begin("gaug-o", backbone, **settings), replace(config, max_updates=17), checkpoint=path)
    resumed = fit(planted_task(), begin("gaug-o", backbone, seed=5, **settings), config, checkpoint=path)
    assert resumed.history == whole.history
    assert whole.test_accuracy > 0.75


def test_gaug_m_changes_as_many_pairs_as_asked():
    learner = begin("gaug-m", add_share=0.3, remove_share=0.1)
    model, known = learner.model, KnownPairs.of(planted_task().graph.edge_index, 120)
    assert (~model.kept).sum() == int(0.1 * known.count)
    assert model.added_pairs.shape[1] == int(0.3 * known.count)
    assert not known.contains(model.added_pairs).any()
    assert KnownPairs.of(model.graph.edge_index, 120).count == known.count - int(0.1 * known.count) + int(
        0.3 * known.count
    )
    # an auto-encoder finds pairs inside the hidden groups, of which guessing would find a third
    labels = planted_task().labels
    assert (labels[model.added_pairs[0]] == labels[model.added_pairs[1]]).double().mean() > 0.6


def test_gaug_m_predicts_on_the_changed_graph():
    learner = begin("gaug-m")
    result = fit(planted_task(), learner, FitConfig(max_updates=20))
    assert torch.equal(learner.predict(), learner.model.backbone(learner.model.graph))
    assert not torch.equal(learner.predict(), learner.model.backbone(Problem.of(planted_task()).graph))
    assert accuracies(learner.predict(), planted_task()).test == result.test_accuracy


def test_gaug_m_that_changes_nothing_is_vanilla():
    config = FitConfig(max_updates=5)
    nothing = {"add_share": 0.0, "remove_share": 0.0, "encoder_epochs": 0}
    runs = [fit(planted_task(), begin(name, **kw), config) for name, kw in (("vanilla", {}), ("gaug-m", nothing))]
    assert runs[0].history["loss_total"] == runs[1].history["loss_total"]


class Weighted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = GCNConv(8, 3)

    def forward(self, x, edge_index, edge_weight=None):
        return self.layer(x, edge_index, edge_weight)


@pytest.mark.parametrize("method", ["ada-edge", "gaug-m", "gaug-o"])
def test_a_users_own_module(method):
    """It gets hard edges. Edge features are refused: nobody knows those of new edges."""
    problem, network = Problem.of(planted_task()), PyGModule(Weighted())
    settings = {"gaug-m": {"encoder_epochs": 3}, "gaug-o": {"predictor_warmup": 3, "classifier_warmup": 0}}
    built = build_method(method, **settings.get(method, {}))
    learner = built.begin(problem, network, seed=0)
    learner.step(1).losses.total.backward()
    assert learner.predict().shape == (120, 3)
    weighted = replace(problem, graph=replace(problem.graph, edge_weight=torch.ones(problem.graph.num_edges)))
    with pytest.raises(RequestError, match="'edge_weight' must be None, or not taken by the module"):
        built.begin(weighted, network, seed=0)
    # what the module does not take is nobody's
    attributes = torch.ones(problem.graph.num_edges, 2)
    unread = replace(problem, graph=replace(problem.graph, edge_attr=attributes))
    built.begin(unread, network, seed=0).step(1).losses.total.backward()


@pytest.mark.parametrize("method", ["ada-edge", "gaug-m", "gaug-o"])
def test_directed_graphs_are_taken(method):
    """Each column is removed by itself there; a new pair runs in both directions."""
    task = planted_task()
    one_way = task.graph.edge_index[:, task.graph.edge_index[0] < task.graph.edge_index[1]]
    problem = Problem.of(replace(task, graph=Data(x=task.graph.x, edge_index=one_way)))
    settings = {
        "ada-edge": {"round_updates": 1, "add_confidence": 0.3, "remove_confidence": 0.3},
        "gaug-m": {"encoder_epochs": 3},
        "gaug-o": {"predictor_warmup": 3, "classifier_warmup": 0},
    }
    network = build_backbone("gcn", 8, 3, rng=rng.stream(0, "w"))
    learner = build_method(method, **settings[method]).begin(problem, network, seed=0)
    for _ in range(3):
        learner.step(1).losses.total.backward()
    assert learner.predict().isfinite().all()


WRONG = [
    ("gaug-m", {"remove_share": 1.5}),
    ("gaug-m", {"add_share": -0.1}),
    ("gaug-m", {"encoder_width": 0}),
    ("gaug-m", {"encoder_learning_rate": 0.0}),
    ("gaug-o", {"predicted_share": 1.5}),
    ("gaug-o", {"temperature": 0.0}),
    ("gaug-o", {"pairs": "some"}),
    ("gaug-o", {"classifier_warmup": -1}),
]


@pytest.mark.parametrize(("method", "wrong"), WRONG)
def test_wrong_settings_are_refused(method, wrong):
    with pytest.raises(RequestError, match=f"'{next(iter(wrong))}' must be"):
        build_method(method, **wrong)
