"""Replicas against the plain loop: the same rules, the same numbers for the same masks, no word between replicas."""

import pytest
import torch

from methods.problems import begin, planted_task
from mhaug.data.splits import per_class_split
from mhaug.data.task import NodeTask
from mhaug.methods.catalogue import METHODS, build_method
from mhaug.methods.stacking import stack_methods
from mhaug.objectives.objective import Losses
from mhaug.training.fit import fit
from mhaug.training.plan import Plan
from mhaug.training.replicas.adam import ReplicaAdam
from mhaug.training.replicas.group import begin_together, group_key
from mhaug.training.result import FitConfig

SMALL = {"hidden": 16, "weight_decay": 0.0, "max_updates": 30}
STACKED = [name for name in METHODS if build_method(name).side_by_side]


def together(method, *, seeds=(0, 1, 2), backbone="gcn", each=({}, {}, {}), tasks=None, **settings):
    plans = [Plan.of(backbone, method, {**SMALL, **settings, **own}) for own in each[: len(seeds)]]
    return begin_together(tasks or [planted_task()] * len(seeds), plans, seeds)


@pytest.mark.parametrize("backbone", ["gcn", "sage", "gat"])
@pytest.mark.parametrize("method", STACKED)
def test_every_replica_learns(method, backbone):
    results = together(method, backbone=backbone, max_updates=40).run()
    assert [result.updates for result in results] == [40] * 3
    assert sum(result.test_accuracy for result in results) / 3 > 0.75
    assert all(len(row) == 40 for result in results for row in result.history.values())


def test_batches_and_rare_evaluations_go_alone():
    for settings in ({"batch_size": 8}, {"evaluate_every": 2}):
        assert group_key(Plan.of("gcn", "vanilla", settings)) is None


def test_vanilla_without_dropout_gives_the_numbers_of_the_plain_loop():
    """Nothing random is left but the initial weights, so each replica must retrace the run of its seed."""
    results = together("vanilla", dropout=0.0, weight_decay=1e-3).run()
    for seed, result in enumerate(results):
        alone = fit(planted_task(), begin("vanilla", seed=seed, dropout=0.0), FitConfig(30, weight_decay=1e-3))
        assert result.history.keys() == alone.history.keys()
        torch.testing.assert_close(
            torch.tensor(result.history["loss_total"]),
            torch.tensor(alone.history["loss_total"]),
            rtol=1e-4,
            atol=1e-5,
        )
        assert result.validation_accuracy == pytest.approx(alone.validation_accuracy, abs=0.04)
        assert result.validation_macro_f1 == pytest.approx(alone.validation_macro_f1, abs=0.04)
        assert (result.steps, result.acceptance_rate) == (alone.steps, alone.acceptance_rate)


def test_each_replica_obeys_its_own_settings():
    own = ({"learning_rate": 1e-9}, {"learning_rate": 0.01}, {"learning_rate": 0.01, "sharpness_weight": 0.0})
    still, moving, blunt = together("uda", each=own, sharpness_weight=0.5, dropout=0.0).run()
    assert still.history["loss_supervised"][-1] == pytest.approx(still.history["loss_supervised"][0], rel=1e-3)
    assert moving.history["loss_supervised"][-1] < 0.5 * moving.history["loss_supervised"][0]
    for result, weight in ((moving, 0.5), (blunt, 0.0)):
        last = {name: row[-1] for name, row in result.history.items()}
        expected = last["loss_supervised"] + last["loss_consistency"] + weight * last["loss_sharpness"]
        assert last["loss_total"] == pytest.approx(expected, rel=1e-5)


def test_strength_and_step_size_are_each_chains_own():
    """At λ_count = 1 and a tight spread the delivered change follows μ: small for the first, large for the last."""
    own = ({"edge_strength": 0.1}, {"edge_strength": 0.5}, {"edge_strength": 0.9})
    tight = {"edge_spread_slope": 0.0, "edge_spread_floor": 0.5, "train_on": "every-step", "max_updates": 150}
    results = together("mh-aug-no-reg", each=own, **tight).run()
    changes = [sum(result.history["ego_edge_change"][50:]) / 100 for result in results]
    assert changes[0] < 0.25
    assert 0.35 < changes[1] < 0.65
    assert changes[2] > 0.75


def test_each_replica_has_its_own_split():
    base = planted_task()
    tasks = [
        NodeTask(base.graph, base.labels, per_class_split(base.labels, train=5, validation=10, seed=seed), 3, "p")
        for seed in range(3)
    ]
    results = together("vanilla", tasks=tasks, dropout=0.0, seeds=(7, 7, 7)).run()
    assert len({result.history["loss_total"][0] for result in results}) == 3


def test_rejections_cost_steps_and_not_updates():
    """Joint acceptance under a sharp target rejects a lot; budgets count candidates, replica by replica."""
    sharp = {"edge_spread_slope": 0.0, "edge_spread_floor": 0.2, "accept": "joint"}
    results = together("mh-aug", **sharp, max_updates=50, max_steps=60).run()
    assert any(result.acceptance_rate < 0.9 for result in results)
    for result in results:
        assert result.steps == 60 or result.updates == 50
        assert result.updates == round(result.acceptance_rate * result.steps)
        assert len(result.history["steps"]) == result.updates


def test_patience_stops_a_replica_and_not_its_neighbours():
    results = together("vanilla", each=({"learning_rate": 1e-9, "patience": 5}, {}, {})).run()
    assert results[0].updates == results[0].best_update + 5
    assert results[1].updates == 30


def test_a_replica_that_blows_up_stops_alone():
    fitting = together("vanilla", each=({}, {"learning_rate": 1e38}, {}))
    fine, broken, other = fitting.run()
    assert fitting.notebook.state["failed"].tolist() == [False, True, False]
    assert broken.updates < 30
    assert fine.updates == other.updates == 30
    assert fine.test_accuracy > 0.7


def test_best_weights_give_the_best_accuracy():
    fitting = together("mh-aug")
    results = fitting.run()
    task = planted_task()
    for index, result in enumerate(results):
        network = Plan.of("gcn", "mh-aug", SMALL).network(8, 3, seed=0)
        network.load_state_dict(fitting.best_weights(index))
        from mhaug.methods.method import Problem

        guess = network.eval()(Problem.of(task).graph).argmax(-1)
        right = (guess == task.labels)[task.split.test].double().mean()
        assert float(right) == pytest.approx(result.test_accuracy, abs=1e-6)


def test_same_seeds_same_numbers():
    first, second, other = (together("mh-aug", seeds=seeds).run() for seeds in ((0, 1, 2), (0, 1, 2), (0, 1, 3)))
    assert [r.history for r in first] == [r.history for r in second]
    assert first[0].history["loss_total"] != other[0].history["loss_total"]


def test_adam_is_torchs_for_those_who_learn():
    weights = torch.randn(2, 5)
    module = torch.nn.ParameterList([weights.clone()])
    adam = ReplicaAdam(module, learning_rate=0.05, weight_decay=0.01)
    plain = weights[0].clone().requires_grad_()
    reference = torch.optim.Adam([plain], lr=0.05, weight_decay=0.01)
    for step in range(20):
        gradient = torch.randn(2, 5, generator=torch.Generator().manual_seed(step))
        learns = torch.tensor([step % 3 != 1, False])
        adam.step(gradient, learns)
        if learns[0]:
            plain.grad = gradient[0]
            reference.step()
    torch.testing.assert_close(module[0][0], plain)
    assert torch.equal(module[0][1], weights[1])


def test_adam_leaves_alone_what_a_replicas_loss_does_not_reach():
    """Two replicas take turns at two losses; the second does not know the second parameter, and none the third."""
    starts = [torch.randn(2, size) for size in (4, 3, 2)]
    module = torch.nn.ParameterList([start.clone() for start in starts])
    adam = ReplicaAdam(module, learning_rate=0.05, weight_decay=0.1)
    alone = [[start[replica].clone().requires_grad_() for start in starts] for replica in range(2)]
    references = [torch.optim.Adam(own, lr=0.05, weight_decay=0.1) for own in alone]
    everyone = torch.ones(2, dtype=torch.bool)
    for step in range(20):
        turn = torch.tensor([step % 3 == 0, step % 2 == 0])
        both = (module[0].square().sum(1) + module[1].sum(1)).exp()
        losses = Losses.either(turn, both, module[0].sin().sum(1), {})
        gradient, reached = adam.gradient(losses)
        adam.step(gradient, everyone, reached)
        for (a, b, _), reference, first in zip(alone, references, turn.tolist(), strict=True):
            reference.zero_grad()
            loss = (a.square().sum() + b.sum()).exp() if first else a.sin().sum()
            loss.backward()
            reference.step()
    for replica, own in enumerate(alone):
        for parameter, expected in zip(module, own, strict=True):
            torch.testing.assert_close(parameter[replica], expected)
    assert torch.equal(module[2], starts[2])


@pytest.mark.parametrize("backbone", ["gcn", "sage", "gat"])
@pytest.mark.parametrize("method", STACKED)
def test_the_same_parameters_are_left_alone_as_in_the_plain_loop(method, backbone):
    """As for the attention of GraphMix, which its twin has not, and that of GRAND, which asks for none."""
    learner, fitting = begin(method, backbone, seed=1), together(method, backbone=backbone, seeds=(0, 1))
    names, plain, stacked = [name for name, _ in learner.model.named_parameters()], set(), set()
    for _ in range(8):
        learner.model.zero_grad()
        learner.step(20).losses.total.backward()
        plain.add(tuple(name for name, each in learner.model.named_parameters() if each.grad is None))
        _, reached = fitting.adam.gradient(fitting.learner.step(1).losses)
        rows = torch.ones(2, len(names), dtype=torch.bool) if reached is None else reached
        stacked |= {tuple(name for name, one in zip(names, row, strict=True) if not one) for row in rows.tolist()}
    assert plain == stacked
    assert len(plain) == 1 + (method == "graph-mix" and backbone == "gat")


def test_only_like_goes_with_like():
    base = Plan.of("gcn", "mh-aug", {})
    assert group_key(base) == group_key(Plan.of("gcn", "mh-aug", {"dropout": 0.1, "edge_strength": 0.9}))
    for other in ({"hidden": 8}, {"accept": "blocks"}, {"hops": 1}):
        assert group_key(base) != group_key(Plan.of("gcn", "mh-aug", other))
    assert group_key(Plan.of("gcn", "mh-aug", {"moves": "mixture", "accept": "blocks"})) is None
    with pytest.raises(ValueError, match="'methods' must be of one kind"):
        stack_methods([build_method("vanilla"), build_method("uda")])
