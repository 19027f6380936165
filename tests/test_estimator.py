import json
from dataclasses import dataclass, replace

import pytest
import torch
from torch_geometric import nn as pyg
from torch_geometric.data import Data

from mhaug import NodeClassifier, NodeTask, load_dataset
from mhaug.checks import RequestError
from mhaug.data.splits import per_class_split
from mhaug.data.toy_graphs import planted_partition
from mhaug.methods.catalogue import METHODS
from mhaug.methods.vanilla import Vanilla

FAST = {"max_updates": 60, "hidden": 16, "weight_decay": 0.0}


@pytest.fixture(scope="module")
def data() -> Data:
    data = planted_partition(3, 40, p_in=0.15, p_out=0.01, features=8, noise=1.5, seed=1)
    split = per_class_split(data.y, train=5, validation=10)
    data.train_mask, data.val_mask, data.test_mask = split.train, split.validation, split.test
    return data


@pytest.fixture(scope="module")
def fitted(data) -> NodeClassifier:
    return NodeClassifier(**FAST).fit(data)


def test_fit_predict_score(data, fitted):
    probabilities = fitted.predict_proba(data)
    assert probabilities.shape == (120, 3)
    torch.testing.assert_close(probabilities.sum(1), torch.ones(120))
    assert torch.equal(fitted.predict(data), probabilities.argmax(1))
    assert fitted.score(data) == pytest.approx(fitted.result_.test_accuracy)
    assert fitted.score(data) > 0.65
    assert fitted.score(data, data.train_mask) > 0.75


def test_a_task_and_its_data_give_the_same(data, fitted):
    task = NodeTask.from_data(data)
    again = NodeClassifier(**FAST).fit(task)
    assert torch.equal(again.predict_proba(task), fitted.predict_proba(data))
    assert again.score(task) == fitted.score(data)


def test_masks_may_be_passed(data):
    bare = Data(x=data.x, edge_index=data.edge_index, y=data.y)
    clf = NodeClassifier("vanilla", **FAST).fit(bare, train_mask=data.train_mask, val_mask=data.val_mask)
    assert clf.score(bare, data.test_mask) > 0.7
    with pytest.raises(RequestError, match="'train_mask' must be given where 'val_mask' is"):
        NodeClassifier(**FAST).fit(bare, val_mask=data.val_mask)


def test_the_global_generator_is_left_alone(data):
    state = torch.get_rng_state()
    NodeClassifier("drop-edge", **FAST).fit(data)
    assert torch.equal(torch.get_rng_state(), state)


def test_save_and_load(data, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["classifier.json", "model.safetensors"]
    again = NodeClassifier.load(tmp_path / "model")
    assert torch.equal(again.predict_proba(data), fitted.predict_proba(data))
    assert again.settings == {**again.settings, **fitted.settings}
    # all that decides the network is in the file, whatever becomes of the presets
    assert again.settings["dropout"] == 0.5


@pytest.mark.parametrize("backbone", ["sage", "gat"])
def test_other_backbones_round_trip(data, tmp_path, backbone):
    clf = NodeClassifier("vanilla", backbone, **FAST).fit(data)
    clf.save(tmp_path)
    assert torch.equal(NodeClassifier.load(tmp_path).predict(data), clf.predict(data))


class Deep(torch.nn.Module):
    """A module of the user's own: three layers, another convolution, edge weights."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([pyg.GraphConv(8, 16), pyg.GraphConv(16, 16), pyg.GraphConv(16, 3)])

    def forward(self, x, edge_index, edge_weight=None):
        for layer in self.layers[:-1]:
            x = layer(x, edge_index, edge_weight).relu()
        return self.layers[-1](x, edge_index, edge_weight)


@pytest.mark.parametrize("method", ["mh-aug", "vanilla", "uda"])
@pytest.mark.parametrize("module", [Deep, lambda: pyg.GCN(8, 16, 2, 3)], ids=["own", "pyg"])
def test_a_module_of_the_users_own(data, module, method, tmp_path):
    options = {"max_updates": 25, "learning_rate": 0.01}
    clf = NodeClassifier(method, module(), **options).fit(data)
    assert clf.score(data) > 0.6
    clf.save(tmp_path)
    assert torch.equal(NodeClassifier.load(tmp_path, backbone=module()).predict(data), clf.predict(data))
    with pytest.raises(RequestError, match="'backbone' must be given: the saved one was the user's own"):
        NodeClassifier.load(tmp_path)
    with pytest.raises(RequestError, match="backbone must be of the kind that was saved"):
        NodeClassifier.load(tmp_path, backbone=pyg.GCN(8, 5, 2, 3))


def test_predict_on_another_graph(data, fitted):
    other = planted_partition(3, 30, p_in=0.15, p_out=0.01, features=8, noise=1.5, seed=1)
    assert fitted.predict(other).shape == (90,)


def test_wrong_graphs_are_refused(data, fitted):
    wide = Data(x=torch.ones(4, 9), edge_index=data.edge_index[:, :0], y=torch.zeros(4).long())
    with pytest.raises(RequestError, match=r"'x' must be of 8 columns, as in training; got 9"):
        fitted.predict(wide)
    more = Data(x=torch.ones(2, 8), edge_index=data.edge_index[:, :0], y=torch.tensor([0, 7]))
    with pytest.raises(RequestError, match=r"'labels' must be in 0..2, as in training; got '0..7'"):
        fitted.score(more)
    with pytest.raises(RequestError, match=r"'data.y' must be given"):
        fitted.score(Data(x=torch.ones(2, 8), edge_index=data.edge_index[:, :0]))


def test_what_is_missing_is_said(data, tmp_path):
    with pytest.raises(RequestError, match="must be fitted first"):
        NodeClassifier().predict(data)
    with pytest.raises(RequestError, match="'method' must be one of"):
        NodeClassifier("magic")
    with pytest.raises(RequestError, match="'settings of mh-aug with gcn' must be one of"):
        NodeClassifier(learning_speed=1)
    with pytest.raises(RequestError, match=r"folder must hold model.safetensors and classifier.json"):
        NodeClassifier.load(tmp_path)
    bare = Data(x=data.x, edge_index=data.edge_index, y=data.y)
    with pytest.raises(RequestError, match="train_mask"):
        NodeClassifier().fit(bare)
    empty = torch.zeros(120, dtype=torch.bool)
    with pytest.raises(RequestError, match="train"):
        NodeClassifier().fit(bare, train_mask=empty)
    with pytest.raises(RequestError, match="must not overlap"):
        NodeClassifier().fit(bare, train_mask=data.train_mask, val_mask=data.train_mask)


def test_what_is_no_graph_or_no_module_is_refused(data):
    with pytest.raises(RequestError, match=r"'data' must be a torch_geometric Data .*; got 'list'"):
        NodeClassifier().fit([data])
    with pytest.raises(RequestError, match=r"a module of your own \(Net\(\), not its class Net\)"):
        NodeClassifier(backbone=torch.nn.Identity)


def test_a_fit_that_is_stopped_leaves_the_earlier_one_whole(monkeypatch, tmp_path):
    """Its presets too: they belong to the graph that was learnt."""
    task = load_dataset("planted-partition")
    clf = NodeClassifier(**FAST).fit(task)
    before = clf.predict_proba(task)

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("mhaug.estimator.fit", stop)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(replace(task, name="computers"))
    clf.save(tmp_path)
    assert json.loads((tmp_path / "classifier.json").read_text())["dataset"] == "planted-partition"
    assert torch.equal(clf.predict_proba(task), before)


def test_broken_files_are_refused(fitted, tmp_path):
    fitted.save(tmp_path)
    (tmp_path / "classifier.json").write_text(json.dumps({"method": "vanilla"})[:-3])
    with pytest.raises(RequestError, match="whole files"):
        NodeClassifier.load(tmp_path)


SHORT = {"ada-edge": {"round_updates": 5, "rounds": 2, "add_confidence": 0.3}, "gaug-m": {"encoder_epochs": 10}}


@pytest.mark.parametrize("method", METHODS)
def test_predictions_are_those_of_the_method(method, tmp_path):
    """GRAND predicts from propagated features, AdaEdge on a changed graph: the score is what training recorded."""
    task = load_dataset("planted-partition")
    clf = NodeClassifier(method, max_updates=15, hidden=8, **SHORT.get(method, {})).fit(task)
    assert clf.score(task) == pytest.approx(clf.result_.test_accuracy, abs=1e-6)
    clf.save(tmp_path)
    assert torch.equal(NodeClassifier.load(tmp_path).predict_proba(task), clf.predict_proba(task))


@dataclass(frozen=True)
class Partial(Vanilla):
    """A method that nobody has heard of: it predicts the first class wherever training had a label."""

    side_by_side = False

    def kept(self, learner, graph):
        return {"known": learner._problem.train.cpu()}

    def predict(self, network, graph, kept):
        return network(graph).where(~kept["known"].unsqueeze(1), torch.tensor([9.0, 0.0, 0.0]))


def test_a_new_method_may_predict_as_it_likes(monkeypatch, data, tmp_path):
    monkeypatch.setitem(METHODS, "partial", Partial)
    clf = NodeClassifier("partial", **FAST).fit(data)
    assert clf.predict(data)[data.train_mask].tolist() == [0] * 15
    assert len(clf.predict(data)[~data.train_mask].unique()) == 3
    clf.save(tmp_path)
    assert torch.equal(NodeClassifier.load(tmp_path).predict_proba(data), clf.predict_proba(data))


def test_changed_edges_belong_to_the_training_graph():
    """Another graph is predicted on as it is."""
    task = load_dataset("planted-partition")
    clf = NodeClassifier("gaug-m", max_updates=5, hidden=8, encoder_epochs=10).fit(task)
    other = Data(x=task.graph.x, edge_index=task.graph.edge_index[:, :40])
    plain = NodeClassifier("vanilla", hidden=8, max_updates=2).fit(task)
    plain.model_.load_state_dict(clf.model_.state_dict())
    assert torch.equal(clf.predict_proba(other), plain.predict_proba(other))
    assert not torch.equal(clf.predict_proba(task), plain.predict_proba(task))
    # the order in which edges are listed means nothing
    shuffled = Data(x=task.graph.x, edge_index=task.graph.edge_index.flip(1))
    assert torch.equal(clf.predict_proba(shuffled), clf.predict_proba(task))
    # a repeat does
    repeated = torch.cat([task.graph.edge_index[:, 1:], task.graph.edge_index[:, 1:2]], 1)
    again = Data(x=task.graph.x, edge_index=repeated)
    assert torch.equal(clf.predict_proba(again), plain.predict_proba(again))
