"""DropNode (Feng et al. 2020, as a stand-alone baseline): a fixed share of feature rows set to zero at each step."""

from dataclasses import dataclass

from mhaug import checks
from mhaug.augmentation.random_drop import RandomDrop
from mhaug.backbones.backbone import Backbone
from mhaug.methods.augmented import AugmentedLearner, Recipe
from mhaug.methods.method import Problem
from mhaug.methods.recipes import supervised


@dataclass(frozen=True)
class DropNode:
    """L_s with nodes dropped; the features that stay are scaled up to keep the mean."""

    node_rate: float = 0.3

    def __post_init__(self) -> None:
        checks.number_in(self.node_rate, "node_rate", 0.0, 1.0)

    side_by_side = True

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> AugmentedLearner:
        """Learn from graphs with nodes dropped."""
        augmenter = RandomDrop(problem.task.graph, node_rate=self.node_rate, seed=seed, replicas=backbone.replicas)
        return AugmentedLearner(problem, backbone, augmenter, Recipe(frozenset({"current"}), supervised("current")))
