import math

import pytest
import torch

from methods.problems import begin, planted_task
from mhaug.checks import RequestError
from mhaug.data.splits import Split
from mhaug.data.task import NodeTask
from mhaug.methods.method import Problem, Step
from mhaug.objectives.objective import Losses
from mhaug.training.fit import fit
from mhaug.training.result import FitConfig, NonFiniteLossError


class Scripted:
    """A learner whose predictions follow a script: update t gets validation accuracy `scores[t]`."""

    def __init__(self, task: NodeTask, scores: list[float], poison: tuple[int, str] | None = None) -> None:
        self.model = torch.nn.Linear(1, 1)
        self.task, self.scores, self.poison, self.count = task, scores, poison, 0

    def step(self, max_proposals: int) -> Step:
        self.count += 1
        loss = self.model(torch.ones(1)).sum()
        term = loss * math.nan if self.poison == (self.count, "loss") else loss
        if self.poison == (self.count, "gradient"):
            term = loss + torch.where(loss > 1e9, loss.log(), 0 * loss) + (loss - loss.detach()).abs().sqrt()
        return Step(Losses(term, {"supervised": term}), proposals=2, accepted=1)

    def predict(self):
        nodes = self.task.split.validation.nonzero().squeeze(1)
        right = round(self.scores[self.count - 1] * len(nodes))
        labels = self.task.labels.clone()
        labels[nodes[right:]] = (labels[nodes[right:]] + 1) % 3
        # on the test set every update is told apart by its number of right answers
        test = self.task.split.test.nonzero().squeeze(1)
        labels[test[self.count :]] = (labels[test[self.count :]] + 1) % 3
        return torch.nn.functional.one_hot(labels, 3).float()

    def state_dict(self):
        return {}

    def load_state_dict(self, saved):
        pass


def test_test_accuracy_is_that_of_the_first_best_validation_accuracy():
    task = planted_task()
    result = fit(task, Scripted(task, [0.2, 0.8, 0.5, 0.8, 0.1]), FitConfig(max_updates=5))
    assert result.best_update == 2
    assert result.validation_accuracy == pytest.approx(0.8)
    assert result.test_accuracy == pytest.approx(2 / 75)
    assert result.last_test_accuracy == pytest.approx(5 / 75)
    assert result.steps == 10
    assert result.acceptance_rate == 0.5


def test_patience_and_budgets():
    task = planted_task()
    scores = [0.1, 0.9] + [0.2] * 50
    assert fit(task, Scripted(task, scores), FitConfig(max_updates=50, patience=5)).updates == 7
    assert fit(task, Scripted(task, scores), FitConfig(max_updates=50, max_steps=9)).updates == 5
    assert FitConfig(max_updates=30).step_budget == 300


def test_only_some_updates_are_evaluated():
    """The first, every third and the last; those between repeat what was known, and are never the best."""
    task = planted_task()
    scores = [0.2, 0.9, 0.3, 0.9, 0.9, 0.5, 0.9, 0.1]
    result = fit(task, Scripted(task, scores), FitConfig(max_updates=8, evaluate_every=3))
    seen = [0.2, 0.2, 0.3, 0.3, 0.3, 0.5, 0.5, 0.1]
    assert result.history["validation_accuracy"] == pytest.approx([round(30 * s) / 30 for s in seen])
    assert result.best_update == 6


@pytest.mark.parametrize(
    ("kind", "words"),
    [("loss", "the term 'supervised' of the loss is nan"), ("gradient", "the gradient is not finite")],
)
def test_a_loss_that_is_not_finite_stops_and_keeps_the_last_good_state(tmp_path, kind, words):
    task = planted_task()
    learner = Scripted(task, [0.1, 0.2, 0.3, 0.4], poison=(3, kind))
    path = tmp_path / "checkpoint.safetensors"
    with pytest.raises(NonFiniteLossError, match=rf"stopped at step 6 \(after update 2\): {words}") as stop:
        fit(task, learner, FitConfig(max_updates=4), checkpoint=path)
    assert stop.value.result.updates == 2
    assert path.is_file()
    assert all(bool(p.isfinite().all()) for p in learner.model.parameters())


def test_without_validation_nodes_the_last_update_counts():
    task = planted_task()
    nothing = torch.zeros_like(task.split.train)
    blind = NodeTask(task.graph, task.labels, Split(task.split.train, nothing, task.split.test), 3)
    learner = begin("vanilla")
    result = fit(blind, learner, FitConfig(max_updates=6))
    assert result.best_update == 6
    assert math.isnan(result.validation_accuracy)
    assert result.test_accuracy == result.last_test_accuracy


def test_the_model_ends_with_its_best_weights():
    task = planted_task()
    learner = begin("vanilla")
    result = fit(task, learner, FitConfig(max_updates=60, learning_rate=0.3))
    right = (learner.predict().argmax(1) == task.labels)[task.split.test].double().mean()
    assert float(right) == pytest.approx(result.test_accuracy)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_updates": 0}, "'max_updates' must be a whole number of at least 1"),
        ({"learning_rate": 0.0}, "'learning_rate' must be a finite number above 0"),
        ({"weight_decay": -1.0}, "'weight_decay'"),
        ({"patience": 0}, "'patience'"),
        ({"max_steps": 1.5}, "'max_steps'"),
    ],
)
def test_bad_configs(options, words):
    with pytest.raises(RequestError, match=words):
        FitConfig(**options)


def test_problem_is_prepared_once():
    problem = Problem.of(planted_task())
    assert problem.graph.num_nodes == 120
