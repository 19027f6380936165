"""The steps of all ranks as one step: what they drew together, and whether all of them can learn."""

from dataclasses import replace
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from mhaug.distributed.world import World
from mhaug.methods.method import Step


@runtime_checkable
class Sharing(Protocol):
    """A learner that has things in common with those of the other ranks."""

    def join(self, saved: dict[str, Tensor]) -> None:
        """Take these over from what the learner of rank 0 has saved."""
        ...


def together(world: World, step: Step) -> Step:
    """Candidates of all ranks; there is nothing to learn as soon as one rank has run out of candidates.

    Where ranks move one chain together, what one of them says all of them say.
    """
    if world.size == 1 or step.shared:
        return step
    mine = torch.tensor([step.proposals, int(step.accepted), int(step.losses is None)])
    proposals, accepted, without = world.total(mine).tolist()
    return replace(step, losses=None if without else step.losses, proposals=proposals, accepted=accepted)
