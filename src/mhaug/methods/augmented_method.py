"""What the methods of the paper's ablation share: each is an augmenter and a recipe, and nothing else."""

from abc import ABC, abstractmethod
from typing import Any

from mhaug.augmentation.augmenter import Augmenter
from mhaug.backbones.backbone import Backbone
from mhaug.methods.augmented import AugmentedLearner, Recipe
from mhaug.methods.method import Method, Problem


class AugmentedMethod(Method, ABC):
    """A method that views of the graph decide: it learns from the whole graph, or in batches (`minibatch/`)."""

    side_by_side = True

    @abstractmethod
    def augmenter(self, graph: Any, *, seed: int, replicas: int | None = None) -> Augmenter:
        """Where the views come from."""

    @abstractmethod
    def recipe(self) -> Recipe:
        """What is learned from them."""

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> AugmentedLearner:
        """Start at the original graph."""
        augmenter = self.augmenter(problem.task.graph, seed=seed, replicas=backbone.replicas)
        return AugmentedLearner(problem, backbone, augmenter, self.recipe())
