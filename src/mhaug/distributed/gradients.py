"""Gradients averaged over the ranks: one all-reduce of one flat vector.

`DistributedDataParallel` hangs its all-reduce on the forward pass of a module, once an update. Here an update passes
several views through parts of a network, and methods add parts of their own that a step may leave out; one vector
after the backward pass serves them all, and networks of this size have nothing to overlap.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mhaug.distributed.world import World


def average_gradients(world: World, parameters: Sequence[nn.Parameter], notes: Tensor) -> Tensor:
    """Put the mean over the ranks in place of each gradient; the sum of `notes` [n] over the ranks comes back.

    A gradient that is missing on some ranks counts as 0 there; one that is missing on all stays so.
    """
    if world.size == 1:
        return notes
    present = torch.tensor([float(each.grad is not None) for each in parameters])
    rows = [torch.zeros_like(each) if each.grad is None else each.grad for each in parameters]
    pieces = [row.reshape(-1).float() for row in rows]
    device = pieces[0].device if pieces else notes.device
    summed = world.total(torch.cat([*pieces, present.to(device), notes.to(device, torch.float32)]))
    *means, present, notes = summed.split([piece.numel() for piece in pieces] + [len(present), len(notes)])
    for each, mean, count in zip(parameters, means, present.tolist(), strict=True):
        if count:
            each.grad = (mean / world.size).view_as(each).to(each.dtype)
    return notes


def same_start(world: World, model: nn.Module) -> None:
    """The weights of rank 0, on every rank."""
    if world.size > 1:
        for value in model.state_dict().values():
            value.copy_(world.from_first(value))
