"""GraphMix: turns, ramp, targets and mixing against a plain reading of the paper; memory; replicas."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional as F

from methods.allocations import LargestTensor
from methods.problems import begin, planted_task
from mhaug.backbones.catalogue import BACKBONES, build_backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.pyg_module import PyGModule
from mhaug.backbones.replicas import stack_networks
from mhaug.checks import RequestError
from mhaug.methods.graph_mix import TERMS, GraphMix
from mhaug.methods.method import Problem
from mhaug.methods.parts.mixup import Pairs
from mhaug.objectives.supervised import supervised_loss

E5 = 0.006737947  # e⁻⁵


def test_a_fair_coin_says_whose_turn_it_is() -> None:
    learner = begin("graph-mix", passes=1)
    steps = [learner.step(1).losses.detached() for _ in range(200)]
    turns = [step["supervised"] == 0.0 for step in steps]
    assert 70 < sum(turns) < 130
    for step, twins in zip(steps, turns, strict=True):
        assert (step["mixed_labelled"] > 0.0) == twins
        assert (step["mixed_unlabelled"] > 0.0) == twins


def test_together_is_the_sum_and_the_ramp_counts_updates() -> None:
    """γ e⁻⁵ before the ramp, γ after it."""
    learner = begin("graph-mix", taught="together", consistency_weight=3.0, ramp_start=2, ramp_end=3)
    counter = learner.state_dict()["updates"]
    for update in range(5):
        assert int(counter) == update  # the same tensor, counted in place
        step = learner.step(1).losses.detached()
        weight = 3.0 * (E5 if update <= 2 else 1.0)
        expected = step["supervised"] + step["mixed_labelled"] + weight * step["mixed_unlabelled"]
        assert step["total"] == pytest.approx(expected, rel=1e-5)


def plain_twin(network, x):
    """The twin of a GCN, written out: returns hidden rows and a function to logits."""
    first, second = network.layers
    hidden = (x @ first.weight + first.bias).relu()
    return hidden, lambda rows: (rows @ second.weight + second.bias).softmax(-1)


def test_both_losses_from_a_plain_reading() -> None:
    """Without dropout all passes agree, so every number of the twin's step can be worked out beside it."""
    task, learner = planted_task(), begin("graph-mix", dropout=0.0, passes=3, temperature=0.5)
    numbers = torch.rand(4 + 3 * 15, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    terms = learner._twin_terms(numbers)
    pairs = Pairs.draw(learner._labelled, learner._unlabelled, numbers, concentration=1.0)
    network = learner.model
    clear = network(learner._problem.graph).softmax(-1).square()
    targets = clear / clear.sum(-1, keepdim=True)
    targets[task.split.train] = F.one_hot(task.labels[task.split.train], 3).float()
    hidden, answer = plain_twin(network, task.graph.x)
    for name, part in (("mixed_labelled", slice(0, 15)), ("mixed_unlabelled", slice(15, 30))):
        rows, share = pairs.rows[part], float(pairs.share[part][0])
        partner = rows[pairs.partner[part] - part.start]
        mixed = share * hidden[rows] + (1 - share) * hidden[partner]
        target = share * targets[rows] + (1 - share) * targets[partner]
        expected = F.binary_cross_entropy(answer(mixed), target.detach())
        torch.testing.assert_close(terms[name], expected)


def test_mixing_is_after_the_first_layer_and_not_before() -> None:
    """On a ReLU that cuts, mixing hidden rows and mixing inputs differ: the test above would not pass by accident."""
    learner = begin("graph-mix", dropout=0.0)
    hidden = learner._hidden(torch.arange(120))
    x = planted_task().graph.x
    inputs = plain_twin(learner.model, (x[:60] + x[60:]) / 2)[0]
    assert not torch.allclose((hidden[:60] + hidden[60:]) / 2, inputs)


def test_other_labels_are_not_looked_at() -> None:
    task = planted_task()
    hidden = task.labels.where(task.split.train, (task.labels + 1) % 3)
    runs = []
    for labels in (task.labels, hidden):
        torch.manual_seed(0)
        network = build_backbone("gcn", 8, 3, hidden=16, rng=torch.Generator().manual_seed(0))
        problem = Problem.of(replace(task, labels=labels))
        learner = GraphMix(taught="together").begin(problem, network, seed=0)
        runs.append([float(learner.step(1).losses.total.detach()) for _ in range(3)])
    assert runs[0] == runs[1]


@pytest.mark.parametrize("input_dropout", [0.0, 0.5])
def test_memory_of_one_pass(input_dropout: float) -> None:
    """Ten passes and 3,000 sparse features: nothing larger than the weights or V · hidden is made."""
    task, hidden = planted_task(), 16
    x = torch.zeros(120, 3000).scatter_(1, torch.randint(3000, (120, 5)), 1.0)
    graph = GraphInput.from_data(SimpleNamespace(x=x, edge_index=task.graph.edge_index))
    network = build_backbone("gcn", 3000, 3, hidden=hidden, input_dropout=input_dropout)
    problem = Problem(SimpleNamespace(labels=task.labels, num_classes=3), graph, task.split.train)  # type: ignore[arg-type]
    learner = GraphMix(taught="together").begin(problem, network, seed=0)
    learner.step(1).losses.total.backward()
    with LargestTensor() as largest:
        learner.step(1).losses.total.backward()
    assert largest.elements <= max(120 * hidden, 3000 * hidden)


def stacked_learner(method: GraphMix, train: torch.Tensor, name: str = "gcn"):
    still = {"hidden": 16, "dropout": 0.0} | ({"attention_dropout": 0.0} if name == "gat" else {})
    networks = [build_backbone(name, 8, 3, **still, rng=torch.Generator().manual_seed(r)) for r in range(len(train))]
    problem = replace(Problem.of(planted_task()), train=train)
    alone = [method.begin(replace(problem, train=row), one, seed=0) for row, one in zip(train, networks, strict=True)]
    return method.begin(problem, stack_networks(networks), seed=0), alone


@pytest.mark.parametrize("name", BACKBONES)
def test_a_replica_learns_what_it_would_alone(name: str) -> None:
    train = planted_task().split.train
    together, alone = stacked_learner(GraphMix(passes=2), torch.stack([train, train.roll(1)]), name)
    numbers = torch.rand(2, 4 + 3 * 15, dtype=torch.float64)
    terms = {**together._network_terms(), **together._twin_terms(numbers)}
    assert tuple(terms) == TERMS
    for index, learner in enumerate(alone):
        for term, value in {**learner._network_terms(), **learner._twin_terms(numbers[index])}.items():
            torch.testing.assert_close(terms[term][index], value)


def test_splits_of_unequal_size() -> None:
    """With λ = 0 or 1 the labelled loss is that of the set in any order; filled-up places are left out."""
    train = planted_task().split.train
    smaller = train.clone()
    smaller[train.nonzero()[:4]] = False
    together, alone = stacked_learner(GraphMix(concentration=0.0), torch.stack([train, smaller]))
    loss = together._twin_terms(torch.rand(2, 4 + 3 * 15, dtype=torch.float64))["mixed_labelled"]
    for index, learner in enumerate(alone):
        size = int(learner._labelled.count)
        own = learner._twin_terms(torch.rand(4 + 3 * size, dtype=torch.float64))["mixed_labelled"]
        torch.testing.assert_close(loss[index], own)


def test_each_replica_has_its_own_coin() -> None:
    train = planted_task().split.train
    learner, _ = stacked_learner(GraphMix(passes=1), train.expand(6, -1))
    seen = torch.stack([learner.step(1).losses.terms["supervised"] == 0.0 for _ in range(30)])
    assert not (seen == seen[:, :1]).all()
    step = learner.step(1)
    plain = supervised_loss(learner.model(learner._problem.graph), planted_task().labels, train)
    twins = step.losses.terms["supervised"] == 0.0
    torch.testing.assert_close(step.losses.total[~twins], plain[~twins])


def test_bad_requests() -> None:
    for settings, words in (
        ({"concentration": -1.0}, "'concentration'"),
        ({"passes": 0}, "'passes'"),
        ({"temperature": 0.0}, "'temperature'"),
        ({"ramp_start": 9, "ramp_end": 8}, "'ramp_end' must be a whole number of at least 9"),
        ({"taught": "never"}, "'taught' must be one of in turn, together"),
    ):
        with pytest.raises(RequestError, match=words):
            GraphMix(**settings)
    problem = Problem.of(planted_task())
    with pytest.raises(RequestError, match="'layers' must be at least 2 for graph-mix"):
        GraphMix().begin(problem, build_backbone("gcn", 8, 3, layers=1), seed=0)
    with pytest.raises(RequestError, match="'backbone' must be 'gcn', 'sage' or 'gat'"):
        GraphMix().begin(problem, PyGModule(torch.nn.Bilinear(1, 1, 1)), seed=0)
