"""DropNode (Feng et al. 2020, as a stand-alone baseline): a fixed share of feature rows set to zero at each step."""

from dataclasses import dataclass
from typing import Any

from mhaug import checks
from mhaug.augmentation.random_drop import RandomDrop
from mhaug.methods.augmented import Recipe
from mhaug.methods.augmented_method import AugmentedMethod
from mhaug.methods.recipes import supervised


@dataclass(frozen=True)
class DropNode(AugmentedMethod):
    """L_s with nodes dropped; the features that stay are scaled up to keep the mean."""

    node_rate: float = 0.3

    def __post_init__(self) -> None:
        checks.number_in(self.node_rate, "node_rate", 0.0, 1.0)

    def augmenter(self, graph: Any, *, seed: int, replicas: int | None = None) -> RandomDrop:
        """Graphs with nodes dropped."""
        return RandomDrop(graph, node_rate=self.node_rate, seed=seed, replicas=replicas)

    def recipe(self) -> Recipe:
        """L_s on the latest of them."""
        return Recipe(frozenset({"current"}), supervised("current"))
