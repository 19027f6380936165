"""When the rounds of AdaEdge begin, and what begins with them."""

import pytest
import torch

from methods.problems import begin, planted_task
from mhaug.checks import RequestError
from mhaug.distributed.world import World
from mhaug.methods.ada_edge import AdaEdge
from mhaug.training.checkpoint import load_checkpoint, save_checkpoint
from mhaug.training.evaluation import accuracies
from mhaug.training.fit import fit
from mhaug.training.plan import Plan
from mhaug.training.progress import Progress
from mhaug.training.result import FitConfig


def test_a_round_starts_with_other_weights_in_the_same_parameters():
    learner = begin("ada-edge", rounds=3, round_updates=2)
    names = dict(learner.model.named_parameters())
    weights = {name: value.detach().clone() for name, value in names.items()}
    for update in range(1, 8):
        learner.step(1)
        same = all(torch.equal(value, weights[name]) for name, value in learner.model.named_parameters())
        # no optimiser here: only a new round changes weights, before updates 3 and 5
        assert same == (update not in (3, 5))
        weights = {name: value.detach().clone() for name, value in learner.model.named_parameters()}
    assert all(value is names[name] for name, value in learner.model.named_parameters())


def test_a_round_starts_with_a_fresh_optimiser():
    """The first update of Adam moves each weight that has a gradient by the learning rate."""
    learner = begin("ada-edge", rounds=2, round_updates=6, add_confidence=0.4, remove_confidence=0.4, dropout=0.0)
    moves, starts, before = [], [], {}
    step, predict = learner.step, learner.predict

    def watched_step(budget):
        found = step(budget)
        starts.append(found.fresh)
        before.update({name: value.detach().clone() for name, value in learner.model.named_parameters()})
        return found

    def watched_predict():
        if len(moves) < len(starts):
            now = dict(learner.model.named_parameters())
            moves.append(torch.cat([(now[name] - before[name]).detach().abs().flatten() for name in now]))
        return predict()

    learner.step, learner.predict = watched_step, watched_predict
    fit(planted_task(), learner, FitConfig(max_updates=8, learning_rate=0.01, weight_decay=0.0))
    assert starts == [False] * 6 + [True, False]
    for first in (0, 6):
        moved = moves[first][moves[first] > 0.0]
        torch.testing.assert_close(moved, torch.full_like(moved, 0.01), rtol=0.01, atol=0.0)


def test_rounds_fit_into_the_run():
    """None shares the updates out; a round that takes all of them would change no edge."""
    assert AdaEdge().within(60).round_updates == 12
    assert AdaEdge().within(2000).round_updates == 400
    assert AdaEdge().within(3).round_updates == 1
    assert AdaEdge(rounds=1, round_updates=5).within(5).round_updates == 5
    with pytest.raises(RequestError, match=r"'round_updates' must be below max_updates \(20\).*; got 20"):
        Plan.of("gcn", "ada-edge", {"max_updates": 20, "round_updates": 20})


class SecondRank(World):
    """Rank 1 of two, which hears the file from rank 0."""

    def bytes_from_first(self, content):
        return self.path.read_bytes()


def test_a_rank_that_joins_a_resumed_run_edits_when_the_others_do(tmp_path):
    learner = begin("ada-edge")
    optimiser = torch.optim.Adam(learner.model.parameters())
    for _ in range(5):
        learner.step(1)
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, learner, optimiser, Progress())
    joined, world = begin("ada-edge", seed=7), SecondRank(rank=1, size=2)
    object.__setattr__(world, "path", path)
    load_checkpoint(path, joined, torch.optim.Adam(joined.model.parameters()), world)
    for name, value in learner.state_dict().items():
        assert torch.equal(joined.state_dict()[name], value)


def test_the_settings_of_the_contract_change_edges():
    history = fit(planted_task(), begin("ada-edge"), FitConfig(max_updates=40, weight_decay=0.0)).history
    assert history["added_pairs"][-1] > 0
    assert history["removed_pairs"][-1] > 0


def test_the_best_weights_come_with_the_graph_that_they_were_found_on():
    learner = begin("ada-edge", rounds=4, round_updates=10, add_confidence=0.4, remove_confidence=0.4)
    result = fit(planted_task(), learner, FitConfig(max_updates=40, weight_decay=0.0))
    best = result.best_update - 1
    assert accuracies(learner.predict(), planted_task()).test == result.test_accuracy
    assert learner.model.added_pairs.shape[1] == result.history["added_pairs"][best]
    assert (~learner.model.kept).sum() == result.history["removed_pairs"][best]
    assert result.history["added_pairs"][-1] > 0
