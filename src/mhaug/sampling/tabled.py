"""The paper's move with everything that depends on counts alone looked up: few operations, none on the host.

`PartKernel` with `Resample` is the reference; the same uniform numbers give the same transitions.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from mhaug.per_replica import PerReplica, aligned
from mhaug.sampling import truncated_normal
from mhaug.sampling.metropolis import PartState, Transition
from mhaug.sampling.moves.resample import uniform_subset
from mhaug.sampling.target import EgoTarget, log_subsets


class Draft(NamedTuple):
    """A candidate that is not yet decided on."""

    candidate: PartState
    counted: Tensor  # float64 [chains]: what the counts add to the log acceptance
    log_uniform: Tensor  # float64 [chains]: accepted if it is no more than the log acceptance


class TabledKernel:
    """One step of one part for all chains. A table has one entry for each count 0..M, and a row a chain if need be.

    With A(d) = (1 - λ) log C(M, d) - log Z(d), where Z normalises the truncated normal around d, the counts' share
    of the log acceptance is A(d') - A(d), plus a correction where one of the two is 0 or M: those own half an
    interval.
    """

    def __init__(self, target: EgoTarget, step_size: PerReplica) -> None:
        self._target, self._units = target, target.units
        device = target.original.device
        size = step_size.double().unsqueeze(1) if isinstance(step_size, Tensor) else step_size
        self._size: PerReplica = step_size.double() if isinstance(step_size, Tensor) else step_size
        counts = torch.arange(self._units + 1, dtype=torch.float64, device=device)
        centre = counts / max(self._units, 1)
        self._below = torch.special.ndtr(-centre / size)
        self._span = torch.special.ndtr((1.0 - centre) / size) - self._below
        count_weight = aligned(target.term.count_weight, 1)
        normaliser = truncated_normal.log_interval(-centre / size, (1.0 - centre) / size)
        self._gain = (1.0 - count_weight) * log_subsets(self._units, counts) - normaliser
        half = 0.5 / max(self._units, 1)
        whole_interval = truncated_normal.log_interval((centre - half) / size, (centre + half) / size)
        half_interval = truncated_normal.log_interval((centre - half) / size, centre / size)
        self._half = half_interval - whole_interval  # by |d - d'|
        self._at_end = ((counts == 0) | (counts == self._units)).double()

    def init(self, kept: Tensor) -> PartState:
        """The state of chains that stand at `kept`."""
        return PartState(kept, self._target.statistics(kept))

    def step(self, current: PartState, entropy: Tensor, uniforms: Tensor) -> Transition:
        """See `PartKernel.step`."""
        return self.decide(current, self.draft(current, uniforms), entropy)

    def draft(self, current: PartState, uniforms: Tensor) -> "Draft":
        """The candidate and its counts' share of the log acceptance: all that needs no ε."""
        given = current.statistics.dropped
        quantile = _at(self._below, given) + uniforms[..., 0] * _at(self._span, given)
        # a uniform number of exactly 0 stands for (0, 2^-53)
        move = torch.special.ndtri(quantile.clamp(min=2.0**-54)) * self._size
        count = ((given / max(self._units, 1) + move).clamp(0.0, 1.0) * self._units).round().long()
        candidate = self.init(uniform_subset(uniforms[..., 1:-1], count))
        at_ends = _at(self._at_end, given) - _at(self._at_end, count)
        counted = _at(self._gain, count) - _at(self._gain, given)
        return Draft(candidate, counted + at_ends * _at(self._half, (count - given).abs()), uniforms[..., -1].log())

    def decide(self, current: PartState, draft: "Draft", entropy: Tensor) -> Transition:
        """Accept or reject under the target that ε gives."""
        log_acceptance = draft.counted + self._ego_gain(draft.candidate, current, entropy)
        return Transition(current, draft.candidate, log_acceptance, draft.log_uniform <= log_acceptance)

    def _ego_gain(self, candidate: PartState, current: PartState, entropy: Tensor) -> Tensor:
        """The ego terms and the user's own term of log P, candidate minus current."""
        term, new, old = self._target.term, candidate.statistics, current.statistics
        both = torch.stack([new.ego_change, old.ego_change])
        distance = ((both - term.strengths(entropy)) / term.spreads(entropy)).square().sum(-1)
        gain = (0.5 * term.ego_weight) * (distance[1] - distance[0])
        return gain if new.extra is None or old.extra is None else gain + new.extra - old.extra


def _at(table: Tensor, counts: Tensor) -> Tensor:
    """The entry of each chain's count."""
    return table[counts] if table.dim() == 1 else table.gather(1, counts.unsqueeze(1)).squeeze(1)
