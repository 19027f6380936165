"""Vanilla: cross-entropy on the original graph, and nothing else."""

from dataclasses import dataclass

from mhaug.augmentation.unchanged import Unchanged
from mhaug.backbones.backbone import Backbone
from mhaug.methods.augmented import AugmentedLearner, Recipe
from mhaug.methods.method import Problem
from mhaug.methods.recipes import supervised


@dataclass(frozen=True)
class Vanilla:
    """No hyper-parameters of its own."""

    side_by_side = True

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> AugmentedLearner:
        """Learn from the graph as it is."""
        recipe = Recipe(frozenset({"original"}), supervised("original"))
        return AugmentedLearner(problem, backbone, Unchanged(), recipe)
