"""The total loss of Eq. 9, from the logits of the three graphs of Algorithm 1."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug import checks
from mhaug.objectives.consistency import consistency_loss
from mhaug.objectives.sharpness import sharpness_loss
from mhaug.objectives.supervised import supervised_loss
from mhaug.per_replica import PerReplica, check_number, is_on

VIEW_NAMES = ("original", "previous", "current")


@dataclass(frozen=True, eq=False)
class ViewLogits:
    """Logits [..., V, C] of the arguments of L in Algorithm 1: G, G^(t), G^(t+1). `None`: not computed.

    In a batch the rows from `sample_from` on are a uniform sample of all nodes: means over all nodes are taken there.
    """

    original: Tensor | None = None
    previous: Tensor | None = None
    current: Tensor | None = None
    sample_from: int = 0

    def of(self, name: str) -> Tensor:
        """The logits of one view by name; asking for one that was not computed is an error."""
        checks.one_of(name, "view", VIEW_NAMES)
        logits: Tensor | None = getattr(self, name)
        checks.require(logits is not None, name, "given: a term of the loss needs these logits", logits)
        assert logits is not None
        return logits

    def sampled(self, name: str) -> Tensor:
        """The rows of a view that stand for all nodes."""
        return self.of(name)[..., self.sample_from :, :]


@dataclass(frozen=True, eq=False)
class Losses:
    """A loss and the terms it was made of, one number for each replica. The terms are before their weights.

    A parameter that a loss does not reach has no part in the step: it stays as it is, with what its optimiser knows
    of it, and decays no more than it learns. One run shows this by a gradient of None. Where replicas learn from
    different losses in one step, `choices` are these losses, each with who learns from it, bool [] or [R].
    """

    total: Tensor
    terms: dict[str, Tensor]
    choices: tuple[tuple[Tensor, Tensor], ...] = ()

    @classmethod
    def either(cls, turn: Tensor, first: Tensor, second: Tensor, terms: dict[str, Tensor]) -> "Losses":
        """`first` for whom it is the turn of, bool [] or [R]; `second` for the others."""
        return cls(first.where(turn, second), terms, ((first, turn), (second, ~turn)))

    def detached(self) -> dict[str, float]:
        """All as plain numbers, under the names of the terms and `total`. Waits for the device, once."""
        losses = {"total": self.total, **self.terms}
        numbers: list[float] = torch.stack([loss.detach() for loss in losses.values()]).tolist()
        return dict(zip(losses, numbers, strict=True))


def total_loss(
    logits: ViewLogits,
    labels: Tensor,
    nodes: Tensor,
    *,
    consistency_weight: PerReplica = 0.0,
    sharpness_weight: PerReplica = 0.0,
    supervised_on: str = "previous",
) -> Losses:
    """L = L_s + γ1 L_u + γ2 L_h (Eq. 9), with γ1 `consistency_weight` and γ2 `sharpness_weight`.

    L_s is taken over `nodes` of the `supervised_on` graph; the paper does not say which, its released code takes
    the previous sample. L_u compares previous with current, L_h is of the original. A term of weight 0 is skipped.
    """
    check_number(consistency_weight, "consistency_weight", 0.0)
    check_number(sharpness_weight, "sharpness_weight", 0.0)
    checks.one_of(supervised_on, "supervised_on", VIEW_NAMES)
    terms = {"supervised": supervised_loss(logits.of(supervised_on), labels, nodes)}
    total = terms["supervised"]
    if is_on(consistency_weight):
        terms["consistency"] = consistency_loss(logits.sampled("previous"), logits.sampled("current"))
        total = total + consistency_weight * terms["consistency"]
    if is_on(sharpness_weight):
        terms["sharpness"] = sharpness_loss(logits.sampled("original"))
        total = total + sharpness_weight * terms["sharpness"]
    return Losses(total, terms)
