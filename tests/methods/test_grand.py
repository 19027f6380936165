"""GRAND: the loss by hand, the network against a dense one, the masks, memory, replicas."""

import math
from types import SimpleNamespace

import pytest
import torch
from torch_geometric.data import Data

from methods.allocations import LargestTensor
from methods.problems import begin, planted_task
from mhaug.backbones.catalogue import BACKBONES, build_backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.propagation import symmetric_average
from mhaug.backbones.pyg_module import PyGModule
from mhaug.backbones.replicas import replica, stack_networks
from mhaug.checks import RequestError
from mhaug.methods.grand import CLASSIFIERS, Grand
from mhaug.methods.method import Problem
from mhaug.methods.stacking import stack_methods

TWO_PASSES = torch.tensor([[[0.9, 0.1]], [[0.5, 0.5]]]).log()
LABELS, EVERY = torch.tensor([0]), torch.tensor([True])


def tiny(features: int = 6) -> GraphInput:
    rng = torch.Generator().manual_seed(3)
    edge_index = torch.randint(9, (2, 20), generator=rng)
    return GraphInput.from_data(Data(x=torch.rand(9, features, generator=rng), edge_index=edge_index))


def test_loss_by_hand() -> None:
    """Mean prediction (.7, .3), sharpened at ½ to (.49, .09) / .58."""
    losses = Grand(temperature=0.5, consistency_weight=3.0).loss(TWO_PASSES, LABELS, EVERY)
    target = 0.49 / 0.58
    agreement = ((0.9 - target) ** 2 + (0.5 - target) ** 2) * 2 / 2
    supervised = -(math.log(0.9) + math.log(0.5)) / 2
    assert float(losses.terms["consistency"]) == pytest.approx(agreement)
    assert float(losses.terms["supervised"]) == pytest.approx(supervised)
    assert float(losses.total) == pytest.approx(supervised + 3.0 * agreement)


def test_every_node_should_agree_and_the_target_stands_still() -> None:
    logits = torch.randn(3, 5, 4, dtype=torch.float64, requires_grad=True)
    nodes = torch.tensor([True, False, False, False, False])
    loss = Grand(temperature=0.5).loss(logits, torch.zeros(5, dtype=torch.long), nodes).terms["consistency"]
    mean = logits.softmax(-1).mean(0).square()
    fixed = (mean / mean.sum(-1, keepdim=True)).detach()
    expected = (logits.softmax(-1) - fixed).square().sum(-1).mean()
    torch.testing.assert_close(loss, expected)
    ours, theirs = (torch.autograd.grad(one, logits)[0] for one in (loss, expected))
    torch.testing.assert_close(ours, theirs)
    assert (ours.abs().sum((0, 2)) > 0).all()


def test_the_network_of_the_paper() -> None:
    """With GCN's weights: an MLP on the rows of X̄, which is written out here densely."""
    graph, order = tiny(), 3
    network = build_backbone("gcn", 6, 3, hidden=8).eval()
    scale = torch.tensor([[0.0, 2.0]]).expand(9, 2).clone()
    scale[4] = torch.tensor([2.0, 0.0])
    matrix = symmetric_average(graph).to_dense()
    for index, logits in enumerate(Grand(order=order).logits(network, graph, scale)):
        dropped = scale[:, index, None] * graph.dense_features
        mean = sum(matrix.matrix_power(k) @ dropped for k in range(order + 1)) / (order + 1)
        first, second = network.layers
        expected = (mean @ first.weight + first.bias).relu() @ second.weight + second.bias
        torch.testing.assert_close(logits, expected)


@pytest.mark.parametrize("name", BACKBONES)
def test_without_propagation_the_backbone_is_itself(name: str) -> None:
    graph, network = tiny(), build_backbone(name, 6, 3, hidden=8).eval()
    method = Grand(order=0, node_rate=0.0, classifier="backbone")
    torch.testing.assert_close(method.logits(network, graph)[0], network(graph))


def test_masks_drop_nodes_and_predictions_take_their_mean() -> None:
    learner = begin("grand", node_rate=0.25, passes=200)
    scale = learner._scale()
    assert scale.shape == (120, 200)
    assert scale.unique().tolist() == [0.0, 1.0]
    assert float(scale.mean()) == pytest.approx(0.75, abs=0.02)
    prediction = learner.predict()
    mean = torch.full((120, 1), 0.75)
    torch.testing.assert_close(learner._method.logits(learner.model, learner._problem.graph, mean)[0], prediction)


def test_no_drops_and_one_pass_agree_with_nothing() -> None:
    learner = begin("grand", node_rate=0.0, passes=1, temperature=1.0, dropout=0.0)
    losses = learner.step(1).losses
    assert float(losses.terms["consistency"].detach()) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("input_dropout", [0.0, 0.5])
def test_features_are_never_propagated(input_dropout: float) -> None:
    """With 3,000 sparse features nothing larger than S · V · hidden is made, forward or backward."""
    task, hidden = planted_task(), 16
    x = torch.zeros(120, 3000).scatter_(1, torch.randint(3000, (120, 5)), 1.0)
    wide = SimpleNamespace(graph=task.graph, labels=task.labels)
    graph = GraphInput.from_data(SimpleNamespace(x=x, edge_index=task.graph.edge_index))
    network = build_backbone("gcn", 3000, 3, hidden=hidden, input_dropout=input_dropout)
    learner = Grand().begin(Problem(wide, graph, task.split.train), network, seed=0)  # type: ignore[arg-type]
    learner.step(1).losses.total.backward()
    with LargestTensor() as largest:
        learner.step(1).losses.total.backward()
        learner.predict()
    # weights and their gradients are 3,000 × 16; a dense X would be 360,000
    assert largest.elements <= max(4 * 120 * hidden, 3000 * hidden)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("name", BACKBONES)
def test_a_stack_is_its_networks_side_by_side(name: str, classifier: str) -> None:
    graph, method = tiny(), Grand(order=2, classifier=classifier)
    networks = [build_backbone(name, 6, 3, hidden=8, rng=torch.Generator().manual_seed(r)).eval() for r in range(2)]
    scale = torch.rand(9, 3, 2)  # nodes, passes, replicas
    together = method.logits(stack_networks(networks).eval(), graph, scale)
    assert together.shape == (3, 2, 9, 3)
    for r, network in enumerate(networks):
        torch.testing.assert_close(together[:, r], method.logits(network, graph, scale[..., r]))


def test_replicas_have_their_own_rates_and_temperatures() -> None:
    problem = Problem.of(planted_task())
    methods = [Grand(node_rate=rate, temperature=t, passes=50) for rate, t in ((0.2, 0.5), (0.8, 0.1))]
    network = stack_networks([build_backbone("gcn", 8, 3, hidden=8) for _ in methods])
    learner = stack_methods(methods).begin(problem, network, seed=0)
    dropped = (learner._scale() == 0).double().mean((0, 1))
    torch.testing.assert_close(dropped, torch.tensor([0.2, 0.8]).double(), rtol=0, atol=0.02)
    assert learner.step(1).losses.total.shape == (2,)
    for index, logits in enumerate(learner.predict()):
        alone = build_backbone("gcn", 8, 3, hidden=8)
        alone.load_state_dict(replica(network.state_dict(), index))
        torch.testing.assert_close(logits, methods[index].logits(alone.eval(), problem.graph)[0])


def test_bad_requests() -> None:
    for settings, words in (
        ({"node_rate": 1.0}, "'node_rate' must be below 1"),
        ({"order": -1}, "'order'"),
        ({"passes": 0}, "'passes'"),
        ({"temperature": 0.0}, "'temperature'"),
        ({"classifier": "gcn"}, "'classifier' must be one of mlp, backbone"),
    ):
        with pytest.raises(RequestError, match=words):
            Grand(**settings)
    with pytest.raises(RequestError, match="'backbone' must be 'gcn', 'sage' or 'gat'"):
        Grand().begin(Problem.of(planted_task()), PyGModule(torch.nn.Bilinear(1, 1, 1)), seed=0)
