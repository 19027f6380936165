"""The steps of all ranks as one step: what they drew together, and whether all of them can learn."""

from dataclasses import replace

import torch

from mhaug.distributed.world import World
from mhaug.methods.method import Step


def together(world: World, step: Step) -> Step:
    """Candidates of all ranks; there is nothing to learn as soon as one rank has run out of candidates."""
    if world.size == 1:
        return step
    mine = torch.tensor([step.proposals, int(step.accepted), int(step.losses is None)])
    proposals, accepted, without = world.total(mine).tolist()
    return replace(step, losses=None if without else step.losses, proposals=proposals, accepted=accepted)
