"""The loss of MH-Aug on two successive views (Eq. 9), whatever draws them."""

from dataclasses import dataclass

from torch import Tensor

from mhaug.objectives.objective import Losses, ViewLogits, total_loss
from mhaug.per_replica import PerReplica, is_on


@dataclass(frozen=True)
class ConsecutiveLoss:
    """L = L_s + γ1 L_u + γ2 L_h: consecutive samples should agree, and predictions should be sharp.

    A term of weight 0 costs nothing: `views` are the passes that the others need.
    """

    consistency_weight: PerReplica = 0.0
    sharpness_weight: PerReplica = 0.0
    supervised_on: str = "previous"

    @property
    def regularises(self) -> bool:
        """Whether there are terms of all nodes."""
        return is_on(self.consistency_weight) or is_on(self.sharpness_weight)

    @property
    def views(self) -> frozenset[str]:
        """The passes that the loss needs."""
        consistency = {"previous", "current"} if is_on(self.consistency_weight) else set()
        sharpness = {"original"} if is_on(self.sharpness_weight) else set()
        return frozenset({self.supervised_on} | consistency | sharpness)

    def __call__(self, logits: ViewLogits, labels: Tensor, nodes: Tensor) -> Losses:
        """Eq. 9."""
        return total_loss(
            logits,
            labels,
            nodes,
            consistency_weight=self.consistency_weight,
            sharpness_weight=self.sharpness_weight,
            supervised_on=self.supervised_on,
        )
