"""Full enumeration of tiny state spaces: the exact law P, and the exact transition matrix of a kernel.

Everything is taken from the code under test: its masses, its target, its acceptance ratio.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from mhaug.sampling.metropolis import MetropolisHastings, PartKernel


class Enumerated(NamedTuple):
    """Over all states: stationary law [S], proposal [S, S] (from row to column), transition matrix [S, S]."""

    law: Tensor
    proposal: Tensor
    transition: Tensor


def all_masks(units: int) -> Tensor:
    """Every subset of units, bool [2^units, units]; state s keeps unit j where bit j of s is set."""
    numbers = torch.arange(2**units)
    return (numbers.unsqueeze(1) >> torch.arange(units)) % 2 == 1


def state_number(kept: Tensor) -> Tensor:
    """The row of `all_masks` that equals `kept`."""
    return (kept.long() << torch.arange(kept.shape[-1])).sum(-1)


def enumerate_kernel(kernel: MetropolisHastings, entropy: Tensor) -> Enumerated:
    """Joint and block kernels over the product of all parts; the first part is the slower index."""
    parts = [_tables(part, entropy) for part in kernel.parts.values()]
    log_law, log_proposal, log_ratio = parts[0]
    for other_law, other_proposal, other_ratio in parts[1:]:
        if not kernel.joint:
            break
        log_law = _outer_sum(log_law, other_law)
        log_proposal, log_ratio = _outer_sum(log_proposal, other_proposal), _outer_sum(log_ratio, other_ratio)
    result = _enumerated(log_law, log_proposal, log_ratio)
    if not kernel.joint:
        for table in parts[1:]:
            result = Enumerated(*map(torch.kron, result, _enumerated(*table)))
    return result


def _enumerated(log_law: Tensor, log_proposal: Tensor, log_ratio: Tensor) -> Enumerated:
    moves = log_proposal.exp() * log_ratio.clamp(max=0.0).exp()
    transition = moves - torch.diag(moves.diagonal())
    transition += torch.diag(1.0 - transition.sum(1))
    return Enumerated(log_law.softmax(0), log_proposal.exp(), transition)


def _tables(part: PartKernel, entropy: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    masks = all_masks(part.target.units)
    size = len(masks)
    rows, columns = torch.arange(size).repeat_interleave(size), torch.arange(size).repeat(size)
    current, candidate = part.init(masks[rows]), part.init(masks[columns])
    log_proposal = part.move.log_prob(candidate.kept, given=current.kept).view(size, size)
    log_ratio = part.log_acceptance(candidate, current, entropy).view(size, size)
    return part.target.log_prob(part.target.statistics(masks), entropy), log_proposal, log_ratio


def _outer_sum(first: Tensor, second: Tensor) -> Tensor:
    """The Kronecker product, in logs."""
    if first.dim() == 1:
        return (first.unsqueeze(1) + second).flatten()
    size = len(first) * len(second)
    return (first[:, None, :, None] + second[None, :, None, :]).reshape(size, size)


def second_eigenvalue(transition: Tensor) -> float:
    """How much of the correlation survives one step."""
    return float(torch.linalg.eigvals(transition).abs().sort(descending=True).values[1])
