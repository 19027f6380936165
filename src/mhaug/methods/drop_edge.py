"""DropEdge (Rong et al. 2020): a fixed share of edges dropped afresh at each step."""

from dataclasses import dataclass
from typing import Any

from mhaug import checks
from mhaug.augmentation.random_drop import RandomDrop
from mhaug.methods.augmented import Recipe
from mhaug.methods.augmented_method import AugmentedMethod
from mhaug.methods.recipes import supervised


@dataclass(frozen=True)
class DropEdge(AugmentedMethod):
    """L_s on the thinned graph; undirected pairs are dropped whole."""

    edge_rate: float = 0.3

    def __post_init__(self) -> None:
        checks.number_in(self.edge_rate, "edge_rate", 0.0, 1.0)

    def augmenter(self, graph: Any, *, seed: int, replicas: int | None = None) -> RandomDrop:
        """Graphs with edges dropped."""
        return RandomDrop(graph, edge_rate=self.edge_rate, seed=seed, replicas=replicas)

    def recipe(self) -> Recipe:
        """L_s on the latest of them."""
        return Recipe(frozenset({"current"}), supervised("current"))
