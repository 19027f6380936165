"""Views along a Metropolis-Hastings chain: the augmenter of MH-Aug."""

from typing import Any

from torch import Tensor

from mhaug.augmentation.apply import view_of
from mhaug.augmentation.augmenter import Augmenter, Proposal
from mhaug.data.view import View
from mhaug.sampling.chain import AnyChain
from mhaug.sampling.sampler import MHAug


class ChainDrop(Augmenter):
    """One chain, started at the whole graph; each proposal is one step of it.

    The accepted pairs (previous, current) are those of Algorithm 1. They are jumps of the chain: each state enters
    once for each visit, however long the visit, so their law is P times the probability of leaving, not P. Under
    "blocks" a step counts as accepted if either part moved.
    """

    needs_entropy = True

    def __init__(self, sampler: MHAug, data: Any, *, seed: int = 0) -> None:
        chain = sampler.chain(data, seed=seed)
        self._begin(chain, chain.graph.unit_of_column)

    def _begin(self, chain: AnyChain, unit_of_column: Tensor) -> None:
        self._chain, self._unit_of_column = chain, unit_of_column
        self._current = self._view()

    def propose(self, entropy: Tensor | None) -> Proposal:
        """One step of the chain, under the target that `entropy` gives."""
        accepted = bool(self._chain.step(entropy).moved[0])
        previous = self._current
        if accepted:
            self._current = self._view()
        return Proposal(previous, self._current, accepted, self._info())

    def state_dict(self) -> dict[str, Tensor]:
        """Masks and streams of the chain."""
        return self._chain.state_dict()

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        self._chain.load_state_dict(saved)
        self._current = self._view()

    def _view(self) -> View:
        return view_of(self._unit_of_column, self._chain.subgraph, 0)

    def _info(self) -> dict[str, float]:
        info = {}
        for part in self._chain.setup.terms:
            change = self._chain.change(part)
            info[f"{part[:-1]}_change"] = float(change.full)
            info[f"ego_{part[:-1]}_change"] = float(change.ego)
        return info
