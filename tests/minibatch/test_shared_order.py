"""One order of batches for all ranks. `tests/distributed` has two real ones."""

import pytest
import torch

from methods.problems import planted_task
from mhaug.distributed.world import World
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.training.plan import Plan


def begin(rank: int, size: int, method: str = "vanilla"):
    task = planted_task()
    plan = Plan.of("gcn", method, {"hidden": 8, "batch_size": 3, "fan_outs": 2})
    network = plan.network(8, 3, seed=0)
    return plan.begin_in_batches(task, LargeGraph.of(task.graph), network, seed=0, world=World(rank, size))


def seeds_of(learner, rounds: int) -> list[list[int]]:
    """The nodes that the next batches of a rank are cut around."""
    seen, sample = [], learner._sampler.sample

    def watched(seeds, **options):
        seen.append(seeds.tolist())
        return sample(seeds, **options)

    learner._sampler.sample = watched
    for _ in range(rounds):
        learner.step(1)
    learner._sampler.sample = sample
    return seen


LABELLED = planted_task().split.train.nonzero().squeeze(1).tolist()  # fifteen: five batches an epoch


def test_ranks_share_an_epoch():
    """Five ranks are through in one round, and two are through two epochs in five rounds; nobody has a node again."""
    assert sorted(node for rank in range(5) for node in seeds_of(begin(rank, 5), 1)[0]) == LABELLED
    rounds = zip(*(seeds_of(begin(rank, 2), 5) for rank in range(2)), strict=True)
    in_order = [node for each in rounds for batch in each for node in batch]
    assert sorted(in_order[:15]) == sorted(in_order[15:]) == LABELLED
    assert in_order[:15] != in_order[15:]
    # they go through the very batches of one alone
    assert in_order == [node for batch in seeds_of(begin(0, 1), 10) for node in batch]


@pytest.mark.parametrize("size", [1, 3])
def test_any_number_of_ranks_goes_on_in_the_order(size):
    """After one round of two ranks: three batches of the epoch are left, whoever goes on."""
    pair = [begin(rank, 2) for rank in range(2)]
    had = [node for learner in pair for node in seeds_of(learner, 1)[0]]
    others = [begin(rank, size) for rank in range(size)]
    others[0].load_state_dict(pair[0].state_dict())
    for learner in others[1:]:
        learner.join(pair[0].state_dict())
    rest = [node for learner in others for batch in seeds_of(learner, 3 // size) for node in batch]
    assert sorted(had + rest) == LABELLED


def test_the_chain_is_each_ranks_own():
    first, second = (begin(rank, 2, "drop-edge") for rank in range(2))
    for learner in (first, second):
        learner.step(1)
    masks = [learner._sample.views["current"].edge_kept for learner in (first, second)]
    assert not torch.equal(*masks)
