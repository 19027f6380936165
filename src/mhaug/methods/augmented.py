"""The paper's ablation as one piece of code: an augmenter, an objective, and the body of Algorithm 1."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from mhaug.augmentation.augmenter import Augmenter, Proposal
from mhaug.backbones.backbone import Backbone
from mhaug.data.view import View, stacked
from mhaug.methods.method import Problem, Step
from mhaug.objectives.objective import Losses, ViewLogits
from mhaug.objectives.sharpness import normalised_entropy


@dataclass(frozen=True)
class Recipe:
    """What an augmented method learns from: which views are passed through the network, and the loss of them."""

    views: frozenset[str]  # of "original", "previous", "current"
    loss: Callable[[ViewLogits, Tensor, Tensor], Losses]  # (logits, labels, training nodes)
    every_step: bool = False  # learn after a rejection too, from the state that the chain stays in
    regularises: bool = False  # whether the loss has terms that are means over all nodes
    live_entropy: bool = True  # False: ε of the untrained network, for good, so that P never moves


@dataclass(frozen=True)
class Advance:
    """Where an augmenter went: its last proposal, how many it took, and whether there is something to learn."""

    proposal: Proposal
    proposals: int
    learns: bool


def advance(augmenter: Augmenter, entropy: Tensor | None, recipe: Recipe, max_proposals: int) -> Advance:
    """Draw candidates until one is accepted, or until the budget is spent."""
    # a broken network would have every candidate rejected: its loss has to be seen
    learns_always = recipe.every_step or (entropy is not None and bool(entropy.sum().isnan()))
    for proposals in range(1, max_proposals + 1):
        proposal = augmenter.propose(entropy)
        if proposal.accepted or learns_always:
            return Advance(proposal, proposals, learns=True)
    return Advance(proposal, max_proposals, learns=False)


class AugmentedLearner:
    """Propose, accept, and only then learn (Algorithm 1).

    ε comes from a pass over the original graph in training mode, as in the released code; it is that of the network
    as it is, so one pass serves all proposals between two updates.
    """

    def __init__(self, problem: Problem, backbone: Backbone, augmenter: Augmenter, recipe: Recipe) -> None:
        self.model = backbone
        self._problem, self._augmenter, self._recipe = problem, augmenter, recipe
        self._frozen_entropy: Tensor | None = None

    def step(self, max_proposals: int) -> Step:
        """Draw candidates until one is accepted, or until the budget is spent; learn from that one."""
        self.model.train()
        if self.model.replicas is not None:
            return self._step_together()
        logits = self.model.shared(self._problem.graph)
        original = self._original(logits)
        move = advance(self._augmenter, self._entropy(original), self._recipe, max_proposals)
        losses = self._losses(logits, original, move.proposal) if move.learns else None
        return Step(losses, move.proposals, int(move.proposal.accepted), move.proposal.info)

    def _step_together(self) -> Step:
        """One candidate for each replica, passed through the network whether accepted or not: shapes never change."""
        self._augmenter.prepare()
        logits = self.model.shared(self._problem.graph)
        original = self._original(logits)
        proposal = self._augmenter.propose(self._entropy(original))
        everyone = torch.ones(self.model.replicas or 1, dtype=torch.bool, device=self._problem.labels.device)
        accepted = everyone & proposal.accepted
        learns = everyone if self._recipe.every_step else accepted
        return Step(self._losses(logits, original, proposal), 1, accepted, proposal.info, learns)

    @torch.no_grad()
    def predict(self) -> Tensor:
        """On the original graph."""
        self.model.eval()
        return self.model(self._problem.graph)

    def state_dict(self) -> dict[str, Tensor]:
        """The augmenter's state, and ε where it is frozen."""
        frozen = {} if self._frozen_entropy is None else {"entropy": self._frozen_entropy}
        return {**{f"augmenter.{name}": value for name, value in self._augmenter.state_dict().items()}, **frozen}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        prefix = "augmenter."
        mine = {name.removeprefix(prefix): value for name, value in saved.items() if name.startswith(prefix)}
        self._augmenter.load_state_dict(mine)
        self._frozen_entropy = saved.get("entropy")

    def _original(self, logits: Callable[[View], Tensor]) -> Tensor | None:
        """f(G), with a gradient only if the loss asks for it."""
        in_loss = "original" in self._recipe.views
        if not (in_loss or (self._augmenter.needs_entropy and self._frozen_entropy is None)):
            return None
        with torch.set_grad_enabled(in_loss):
            return logits(View())

    def _entropy(self, original: Tensor | None) -> Tensor | None:
        if not self._augmenter.needs_entropy:
            return None
        if self._recipe.live_entropy:
            assert original is not None
            return normalised_entropy(original)
        if self._frozen_entropy is None:
            assert original is not None
            self._frozen_entropy = normalised_entropy(original)
        return self._frozen_entropy

    def _losses(self, logits: Callable[[View], Tensor], original: Tensor | None, proposal: Proposal) -> Losses:
        wanted = self._recipe.views
        views: dict[str, Any] = {"original": original if "original" in wanted else None}
        if self.model.replicas is not None and {"previous", "current"} <= wanted:
            # one pass for both: on a GPU the number of kernels counts, not their size
            views["previous"], views["current"] = logits(stacked([proposal.previous, proposal.current]))
            return self._recipe.loss(ViewLogits(**views), self._problem.labels, self._problem.train)
        for name in ("previous", "current"):
            views[name] = logits(getattr(proposal, name)) if name in wanted else None
        return self._recipe.loss(ViewLogits(**views), self._problem.labels, self._problem.train)
