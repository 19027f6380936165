"""Vanilla: cross-entropy on the original graph, and nothing else."""

from dataclasses import dataclass
from typing import Any

from mhaug.augmentation.unchanged import Unchanged
from mhaug.methods.augmented import Recipe
from mhaug.methods.augmented_method import AugmentedMethod
from mhaug.methods.recipes import supervised


@dataclass(frozen=True)
class Vanilla(AugmentedMethod):
    """No hyper-parameters of its own."""

    def augmenter(self, graph: Any, *, seed: int, replicas: int | None = None) -> Unchanged:
        """The graph as it is."""
        return Unchanged()

    def recipe(self) -> Recipe:
        """L_s on it."""
        return Recipe(frozenset({"original"}), supervised("original"))
