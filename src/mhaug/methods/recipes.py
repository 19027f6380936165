"""Losses that several methods share, as functions of the three views' logits."""

from collections.abc import Callable

from torch import Tensor

from mhaug.objectives.objective import Losses, ViewLogits, total_loss

Loss = Callable[[ViewLogits, Tensor, Tensor], Losses]


def supervised(view: str) -> Loss:
    """L_s alone, on one view."""

    def loss(logits: ViewLogits, labels: Tensor, nodes: Tensor) -> Losses:
        return total_loss(logits, labels, nodes, supervised_on=view)

    return loss
