"""Eq. 7: Metropolis-Hastings over any move and any target, on tensors. The readable reference."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mhaug.sampling.moves.move import Move
from mhaug.sampling.target import EgoTarget, Statistics


class PartState(NamedTuple):
    """Where the chains stand in one part. `statistics` belong to `kept`; they spare a recount at the next step."""

    kept: Tensor  # bool [chains, units]
    statistics: Statistics


class Transition(NamedTuple):
    """One step of one part. After a rejection `current` is `previous`, and `candidate` is what was turned down."""

    previous: PartState
    candidate: PartState
    log_acceptance: Tensor  # float64 [chains]: log of the ratio in Eq. 7
    accepted: Tensor  # bool [chains]

    @property
    def current(self) -> PartState:
        """Where the chains stand now."""
        each = self.accepted.unsqueeze(-1)
        new, old = self.candidate.statistics, self.previous.statistics
        statistics = Statistics(
            torch.where(self.accepted, new.dropped, old.dropped),
            torch.where(each, new.ego_change, old.ego_change),
            None if new.extra is None or old.extra is None else torch.where(self.accepted, new.extra, old.extra),
        )
        return PartState(torch.where(each, self.candidate.kept, self.previous.kept), statistics)


@dataclass(frozen=True)
class PartKernel:
    """One move under the target of one part (edges or nodes)."""

    target: EgoTarget
    move: Move

    def init(self, kept: Tensor) -> PartState:
        """The state of chains that stand at `kept`."""
        return PartState(kept, self.target.statistics(kept))

    def log_acceptance(self, candidate: PartState, current: PartState, entropy: Tensor) -> Tensor:
        """log [P(G') Q(G | G') / (P(G) Q(G' | G))], not yet cut at 0."""
        return (
            self.target.log_prob(candidate.statistics, entropy)
            - self.target.log_prob(current.statistics, entropy)
            + self.move.log_prob(current.kept, given=candidate.kept)
            - self.move.log_prob(candidate.kept, given=current.kept)
        )

    def step(self, current: PartState, entropy: Tensor, uniforms: Tensor) -> Transition:
        """One transition of every chain; the last of the `uniforms` [chains, numbers + 1] decides."""
        candidate = self.init(self.move.propose(current.kept, uniforms[..., :-1]))
        log_acceptance = self.log_acceptance(candidate, current, entropy)
        return Transition(current, candidate, log_acceptance, uniforms[..., -1].log() <= log_acceptance)


def accept_jointly(parts: dict[str, Transition], log_uniform: Tensor) -> dict[str, Transition]:
    """The paper's rule: both parts' candidates are taken, or neither. P is a product, so the ratios multiply.

    Accepting each part for itself leaves P unchanged as well, and accepts more often.
    """
    total = torch.stack([part.log_acceptance for part in parts.values()]).sum(0)
    accepted = log_uniform <= total
    return {name: part._replace(log_acceptance=total, accepted=accepted) for name, part in parts.items()}
