"""What a fit on several ranks is, as far as one process can tell; `tests/distributed` has the real ones."""

import pytest
import torch
from safetensors.torch import save

from methods.problems import begin, planted_task
from mhaug.distributed.world import World
from mhaug.methods.method import Step
from mhaug.objectives.objective import Losses
from mhaug.training.fit import fit
from mhaug.training.progress import Progress
from mhaug.training.ranks import together
from mhaug.training.result import FitConfig


class Twins(World):
    """Two ranks that do the same: what they say together, one of them knows alone."""

    def _collective(self, name, values, **options):
        return values * 2 if name == "all_reduce" else values

    def bytes_of_all(self, content):
        return [content, save({})]


class KilledError(Exception):
    """What a kill looks like to the loop."""


@pytest.mark.parametrize(("before", "after", "steps"), [(2, 1, 60 + 10), (1, 2, 30 + 20), (2, 2, 80)])
def test_every_rank_may_draw_the_candidates_of_one_alone(tmp_path, before, after, steps):
    """Killed after 30 of 40 updates, a candidate each; on any number of ranks the other ten are made."""
    worlds, config = {1: World.alone(), 2: Twins(0, 2)}, FitConfig(max_updates=40, max_steps=40)
    path = tmp_path / "checkpoint.safetensors"

    def kill(progress):
        if progress.updates == 30:
            raise KilledError

    with pytest.raises(KilledError):
        fit(
            planted_task(),
            begin("vanilla"),
            config,
            checkpoint=path,
            checkpoint_every=30,
            report=kill,
            world=worlds[before],
        )
    result = fit(planted_task(), begin("vanilla"), config, checkpoint=path, world=worlds[after])
    assert (result.updates, result.steps) == (40, steps)
    assert len(result.history["loss_total"]) == 40


def test_two_ranks_save_their_first_update(tmp_path):
    path = tmp_path / "checkpoint.safetensors"

    def kill(progress):
        raise KilledError

    for world, saved in ((World.alone(), False), (Twins(0, 2), True)):
        with pytest.raises(KilledError):
            fit(planted_task(), begin("vanilla"), FitConfig(), checkpoint=path, report=kill, world=world)
        assert path.exists() == saved


@pytest.mark.parametrize(("shared", "steps", "accepted"), [(False, 6, 2), (True, 3, 1)])
def test_a_candidate_of_all_ranks_is_counted_once(shared, steps, accepted):
    """Three candidates of each of two ranks, or three of both: either way each rank has had three of its budget."""
    progress, losses = Progress(), Losses(torch.zeros(()), {})
    progress.count(together(Twins(0, 2), Step(losses, 3, 1, shared=shared)), 2)
    assert (progress.steps, progress.accepted, progress.spent) == (steps, accepted, 3.0)
