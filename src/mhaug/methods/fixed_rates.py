"""MH-Aug without its chain: its loss on independent draws at fixed rates. What a chain has to be compared with."""

from dataclasses import dataclass
from typing import Any

from mhaug import checks
from mhaug.augmentation.random_drop import RandomDrop
from mhaug.methods.augmented import Recipe
from mhaug.methods.augmented_method import AugmentedMethod
from mhaug.methods.consecutive import ConsecutiveLoss
from mhaug.objectives.objective import VIEW_NAMES


@dataclass(frozen=True)
class FixedRates(AugmentedMethod):
    """L = L_s + γ1 L_u + γ2 L_h (Eq. 9) on two successive draws, each a uniform subset of the size that a rate gives.

    `uda` has another loss: there one draw is compared with the whole graph, and learns from it alone.
    """

    edge_rate: float = 0.3
    node_rate: float = 0.3
    consistency_weight: float = 0.5
    sharpness_weight: float = 0.5
    supervised_on: str = "previous"

    def __post_init__(self) -> None:
        for name in ("edge_rate", "node_rate"):
            checks.number_in(getattr(self, name), name, 0.0, 1.0)
        for name in ("consistency_weight", "sharpness_weight"):
            checks.number_in(getattr(self, name), name, 0.0)
        checks.one_of(self.supervised_on, "supervised_on", VIEW_NAMES)

    def augmenter(self, graph: Any, *, seed: int, replicas: int | None = None) -> RandomDrop:
        """Views dropped at fixed rates."""
        return RandomDrop(graph, edge_rate=self.edge_rate, node_rate=self.node_rate, seed=seed, replicas=replicas)

    def recipe(self) -> Recipe:
        """As in `mh-aug`."""
        loss = ConsecutiveLoss(self.consistency_weight, self.sharpness_weight, self.supervised_on)
        return Recipe(loss.views, loss, regularises=loss.regularises)
