"""Full enumeration of tiny state spaces: the exact law P, and the exact transition matrix of a step.

Everything is taken from the code under test: its masses, its target, its acceptance ratio, its weights.
"""

from functools import reduce
from typing import NamedTuple

import torch
from torch import Tensor

from mhaug.sampling.metropolis import PartKernel
from mhaug.sampling.moves.mixture import Round, elementary_moves
from mhaug.sampling.setup import Setup


class Enumerated(NamedTuple):
    """Over all states: stationary law [S], transition matrix [S, S] (from row to column)."""

    law: Tensor
    transition: Tensor


class Tables(NamedTuple):
    """Of one move on one part, over all pairs of states, in logs."""

    law: Tensor
    proposal: Tensor
    ratio: Tensor


def all_masks(units: int) -> Tensor:
    """Every subset of units, bool [2^units, units]; state s keeps unit j where bit j of s is set."""
    numbers = torch.arange(2**units)
    return (numbers.unsqueeze(1) >> torch.arange(units)) % 2 == 1


def state_number(kept: Tensor) -> Tensor:
    """The row of `all_masks` that equals `kept`."""
    return (kept.long() << torch.arange(kept.shape[-1])).sum(-1)


def tables(kernel: PartKernel, entropy: Tensor) -> Tables:
    masks = all_masks(kernel.target.units)
    size = len(masks)
    rows, columns = torch.arange(size).repeat_interleave(size), torch.arange(size).repeat(size)
    current, candidate = kernel.init(masks[rows]), kernel.init(masks[columns])
    proposal = kernel.move.log_prob(candidate.kept, given=current.kept).view(size, size)
    ratio = kernel.log_acceptance(candidate, current, entropy).view(size, size)
    law = kernel.target.log_prob(kernel.target.statistics(masks), entropy)
    # a state that is never proposed has no ratio (minus infinity on both sides)
    return Tables(law, proposal, torch.where(proposal.isinf(), 0.0, ratio))


def transition_matrix(proposal: Tensor, ratio: Tensor) -> Tensor:
    """Propose, accept with min(1, ratio), else stay."""
    moves = proposal.exp() * ratio.clamp(max=0.0).exp()
    transition = moves - torch.diag(moves.diagonal())
    return transition + torch.diag(1.0 - transition.sum(1))


def enumerate_step(setup: Setup, entropy: Tensor, share: float = 0.5) -> Enumerated:
    """One step of a chain over the product of all parts; the first part is the slower index."""
    if setup.joint:
        each = [
            tables(PartKernel(t, elementary_moves(setup.step_sizes[p])[0]), entropy) for p, t in setup.targets.items()
        ]
        law, proposal, ratio = (reduce(_outer_sum, column) for column in zip(*each, strict=True))
        return Enumerated(law.softmax(0), transition_matrix(proposal, ratio))
    parts = [_round(setup, part, entropy, share) for part in setup.targets]
    return Enumerated(*(reduce(torch.kron, column) for column in zip(*parts, strict=True)))


def _round(setup: Setup, part: str, entropy: Tensor, share: float) -> Enumerated:
    target = setup.targets[part]
    plan = Round.of(setup.moves, target.units, share, setup.resample_work[part])
    each = [tables(PartKernel(target, move), entropy) for move in elementary_moves(setup.step_sizes[part])]
    mixed = sum(
        weight * transition_matrix(table.proposal, table.ratio)
        for weight, table in zip(plan.weights, each, strict=True)
    )
    return Enumerated(each[0].law.softmax(0), torch.linalg.matrix_power(mixed, plan.budget))


def _outer_sum(first: Tensor, second: Tensor) -> Tensor:
    """The Kronecker product, in logs."""
    if first.dim() == 1:
        return (first.unsqueeze(1) + second).flatten()
    size = len(first) * len(second)
    return (first[:, None, :, None] + second[None, :, None, :]).reshape(size, size)


def second_eigenvalue(transition: Tensor) -> float:
    """How much of the correlation survives one step."""
    return float(torch.linalg.eigvals(transition).abs().sort(descending=True).values[1])
