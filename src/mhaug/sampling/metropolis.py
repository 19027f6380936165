"""Eq. 7: Metropolis-Hastings over any move and any target."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mhaug.rng import Streams
from mhaug.sampling.moves.move import Move
from mhaug.sampling.target import EgoTarget, Statistics


class PartState(NamedTuple):
    """Where the chains stand in one part. `statistics` belong to `kept`; they spare a recount at the next step."""

    kept: Tensor  # bool [chains, units]
    statistics: Statistics


class PartTransition(NamedTuple):
    """One step of one part. After a rejection `current` is `previous`, and `candidate` is what was turned down."""

    previous: PartState
    candidate: PartState
    log_acceptance: Tensor  # float64 [chains]: log of the ratio in Eq. 7; shared by both parts under "joint"
    accepted: Tensor  # bool [chains]
    current: PartState


@dataclass(frozen=True)
class PartKernel:
    """Move and target of one part (edges or nodes)."""

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


@dataclass(frozen=True)
class MetropolisHastings:
    """The chain's step. P is a product over the parts, so each part may be accepted on its own ("blocks").

    Both rules leave P unchanged. "joint", the paper's, turns both parts down if either is bad; "blocks" does not.
    """

    parts: dict[str, PartKernel]
    joint: bool

    def step(self, state: dict[str, PartState], entropy: Tensor, *, rng: Streams) -> dict[str, PartTransition]:
        """One transition of every chain and every part. `entropy` is [V] or [chains, V]."""
        candidates = {name: part.init(part.move.draw(state[name].kept, rng=rng)) for name, part in self.parts.items()}
        ratios = {
            name: part.log_acceptance(candidates[name], state[name], entropy) for name, part in self.parts.items()
        }
        if self.joint:
            total = torch.stack(list(ratios.values())).sum(0)
            accepted = dict.fromkeys(ratios, _accept(total, rng))
            ratios = dict.fromkeys(ratios, total)
        else:
            accepted = {name: _accept(ratio, rng) for name, ratio in ratios.items()}
        return {
            name: PartTransition(
                state[name],
                candidates[name],
                ratios[name],
                accepted[name],
                _choose(accepted[name], candidates[name], state[name]),
            )
            for name in self.parts
        }


def _accept(log_acceptance: Tensor, rng: Streams) -> Tensor:
    return rng.uniform(1).squeeze(-1).log() <= log_acceptance


def _choose(accepted: Tensor, candidate: PartState, current: PartState) -> PartState:
    each = accepted.unsqueeze(-1)
    return PartState(
        torch.where(each, candidate.kept, current.kept),
        Statistics(
            torch.where(accepted, candidate.statistics.dropped, current.statistics.dropped),
            torch.where(each, candidate.statistics.ego_change, current.statistics.ego_change),
        ),
    )
