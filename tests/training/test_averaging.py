"""Mean weights by hand, what is evaluated and kept with them, and the same means for replicas."""

from dataclasses import replace

import pytest
import torch

from methods.problems import begin, planted_task
from mhaug.checks import RequestError
from mhaug.data.splits import Split
from mhaug.training.averaging import WeightAveraging
from mhaug.training.fit import fit
from mhaug.training.plan import Plan
from mhaug.training.replicas.averaging import ReplicaAveraging
from mhaug.training.replicas.group import begin_together
from mhaug.training.result import FitConfig

PLAIN = {"hidden": 16, "dropout": 0.0, "weight_decay": 0.0, "max_updates": 20}


def one_weight(value=0.0):
    model = torch.nn.Linear(1, 1, bias=False)
    return model, lambda new: torch.nn.init.constant_(model.weight, new)


def mean_of(model, averaging):
    with averaging.in_place():
        return model.weight.item()


def test_by_hand():
    """1, 2, 4 with β = 1/2: (1/4 + 2/2 + 4) / (1/4 + 1/2 + 1) = 3."""
    model, put = one_weight()
    averaging = WeightAveraging(model, 0.5)
    for value in (1.0, 2.0, 4.0):
        put(value)
        averaging.update()
    assert mean_of(model, averaging) == pytest.approx(3.0)
    assert model.weight.item() == 4.0
    put(7.0)
    averaging.update(fresh=True)
    assert mean_of(model, averaging) == 7.0


def test_weights_come_back_after_an_error():
    model, put = one_weight()
    averaging = WeightAveraging(model, 0.5)
    averaging.update()
    put(3.0)
    with pytest.raises(KeyError), averaging.in_place():
        raise KeyError
    assert model.weight.item() == 3.0


def test_what_is_no_parameter_is_as_it_is():
    model = torch.nn.BatchNorm1d(2)
    averaging = WeightAveraging(model, 0.9)
    averaging.update()
    model.running_mean += 5.0
    with averaging.in_place():
        assert model.running_mean.tolist() == [5.0, 5.0]


@pytest.mark.parametrize("value", [-0.1, 1.0, float("nan")])
def test_out_of_range(value):
    with pytest.raises(RequestError, match=r"'weight_averaging' must be a number in \[0, 0.9999\]"):
        FitConfig(weight_averaging=value)


def test_the_model_ends_with_the_mean_of_its_weights():
    """Without validation nodes the last update is taken: its mean, put together here from the weights of each."""
    task, learner, seen = planted_task(), begin("vanilla", dropout=0.0), []
    nobody = torch.zeros_like(task.split.validation)
    task = replace(task, split=Split(task.split.train, nobody, task.split.test))
    fit(
        task,
        learner,
        FitConfig(6, weight_averaging=0.8),
        report=lambda _: seen.append(learner.model.layers[0].weight.detach().clone()),
    )
    shares = 0.8 ** torch.arange(5, -1, -1.0)
    expected = (torch.stack(seen) * (shares / shares.sum()).view(-1, 1, 1)).sum(0)
    torch.testing.assert_close(learner.model.layers[0].weight.detach(), expected)


def test_training_itself_is_the_same():
    """Only what is looked at changes."""
    with_mean, without = (
        fit(planted_task(), begin("mh-aug"), FitConfig(15, weight_averaging=decay)).history for decay in (0.9, 0.0)
    )
    assert with_mean["loss_total"] == without["loss_total"]
    assert with_mean["validation_accuracy"] != without["validation_accuracy"]


def test_a_resumed_run_has_the_same_means(tmp_path):
    path, config = tmp_path / "checkpoint.safetensors", FitConfig(20, weight_averaging=0.9)
    whole = fit(planted_task(), begin("vanilla"), config)
    fit(planted_task(), begin("vanilla"), replace(config, max_updates=8), checkpoint=path)
    resumed = fit(planted_task(), begin("vanilla", seed=9), config, checkpoint=path)
    assert resumed.history == whole.history


@pytest.mark.parametrize(("first", "then"), [(0.0, 0.9), (0.9, 0.0), (0.9, 0.5)])
def test_means_of_another_kind_are_none_to_go_on_from(tmp_path, first, then):
    path = tmp_path / "checkpoint.safetensors"
    fit(planted_task(), begin("vanilla"), FitConfig(3, weight_averaging=first), checkpoint=path)
    reason = rf"checkpoint must be one of this very run.*weight_averaging {first:g} there, {then:g} here"
    with pytest.raises(RequestError, match=reason):
        fit(planted_task(), begin("vanilla"), FitConfig(6, weight_averaging=then), checkpoint=path)


def test_the_first_mean_of_a_replica_is_its_first_weights():
    """(1 - β) / (1 - β¹) = 1, however near β is to 1."""
    averaging = ReplicaAveraging(torch.full((2, 1), 3.0), 0.9999)
    averaging.update(torch.tensor([True, True]))
    assert averaging.state["weights"].tolist() == [[3.0], [3.0]]


def test_replicas_by_hand():
    """The second one does not learn from the middle weights."""
    weights = torch.zeros(2, 1)
    averaging = ReplicaAveraging(weights, torch.tensor([0.5, 0.0]))
    for value, learns in ((1.0, [True, True]), (2.0, [True, False]), (4.0, [True, False])):
        weights.fill_(value)
        averaging.update(torch.tensor(learns))
    with averaging.in_place():
        torch.testing.assert_close(weights, torch.tensor([[3.0], [1.0]]))
    assert weights.tolist() == [[4.0], [4.0]]


def test_replicas_have_the_curves_of_the_plain_loop():
    """Without dropout nothing is random but the first weights; each replica has a decay of its own."""
    decays = (0.9, 0.0, 0.5)
    plans = [Plan.of("gcn", "vanilla", {**PLAIN, "weight_averaging": decay}) for decay in decays]
    results = begin_together([planted_task()] * 3, plans, (0, 1, 2)).run()
    for seed, (decay, result) in enumerate(zip(decays, results, strict=True)):
        config = FitConfig(20, weight_decay=0.0, weight_averaging=decay)
        alone = fit(planted_task(), begin("vanilla", seed=seed, dropout=0.0), config)
        torch.testing.assert_close(
            torch.tensor(result.history["validation_loss"]),
            torch.tensor(alone.history["validation_loss"]),
            rtol=1e-4,
            atol=1e-5,
        )


def test_replicas_go_on_with_their_means():
    plans = [Plan.of("gcn", "vanilla", {**PLAIN, "weight_averaging": 0.9})] * 2

    def begun(steps):
        fitting = begin_together([planted_task()] * 2, plans, (0, 1))
        for _ in range(steps):
            fitting.step()
        return fitting

    first, second = begun(5), begun(1)
    second.load(first.tensors(), first.notebook.columns, 0.0)
    for name, value in first.tensors().items():
        torch.testing.assert_close(second.tensors()[name], value, rtol=0.0, atol=0.0, equal_nan=True)
    assert any(name.startswith("mean.") for name in first.tensors())
