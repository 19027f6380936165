"""DropEdge (Rong et al. 2020): a fixed share of edges dropped afresh at each step."""

from dataclasses import dataclass

from mhaug import checks
from mhaug.augmentation.random_drop import RandomDrop
from mhaug.backbones.backbone import Backbone
from mhaug.methods.augmented import AugmentedLearner, Recipe
from mhaug.methods.method import Problem
from mhaug.methods.recipes import supervised


@dataclass(frozen=True)
class DropEdge:
    """L_s on the thinned graph; undirected pairs are dropped whole."""

    edge_rate: float = 0.3

    def __post_init__(self) -> None:
        checks.number_in(self.edge_rate, "edge_rate", 0.0, 1.0)

    side_by_side = True

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> AugmentedLearner:
        """Learn from graphs with edges dropped."""
        augmenter = RandomDrop(problem.task.graph, edge_rate=self.edge_rate, seed=seed, replicas=backbone.replicas)
        return AugmentedLearner(problem, backbone, augmenter, Recipe(frozenset({"current"}), supervised("current")))
