"""UDA* (Xie et al. 2020, carried over to graphs): consistency with a view that is dropped at fixed rates.

The paper does not say what its extension is; `docs/paper_map.md` says what we read it as.
"""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from mhaug import checks
from mhaug.augmentation.random_drop import RandomDrop
from mhaug.methods.augmented import Recipe
from mhaug.methods.augmented_method import AugmentedMethod
from mhaug.objectives.consistency import consistency_loss
from mhaug.objectives.objective import Losses, ViewLogits, total_loss


@dataclass(frozen=True)
class UDA(AugmentedMethod):
    """L = L_s(G) + γ1 mean_i m_i KL[sg softmax(f(G)/τ) ‖ f(G')] + γ2 L_h(G).

    G' drops edges and nodes at fixed rates; m_i counts nodes whose largest probability is above `confidence`. The
    gradient flows through the augmented side only.
    """

    edge_rate: float = 0.3
    node_rate: float = 0.3
    consistency_weight: float = 1.0
    sharpness_weight: float = 0.5
    temperature: float = 1.0
    confidence: float = 0.0

    def __post_init__(self) -> None:
        for name in ("edge_rate", "node_rate", "confidence"):
            checks.number_in(getattr(self, name), name, 0.0, 1.0)
        for name in ("consistency_weight", "sharpness_weight"):
            checks.number_in(getattr(self, name), name, 0.0)
        checks.number_in(self.temperature, "temperature", 0.0, open_low=True)

    def augmenter(self, graph: Any, *, seed: int, replicas: int | None = None) -> RandomDrop:
        """Views dropped at fixed rates."""
        return RandomDrop(graph, edge_rate=self.edge_rate, node_rate=self.node_rate, seed=seed, replicas=replicas)

    def recipe(self) -> Recipe:
        """Learn from the graph and one dropped view of it."""
        return Recipe(frozenset({"original", "current"}), self.loss, regularises=True)

    def loss(self, logits: ViewLogits, labels: Tensor, nodes: Tensor) -> Losses:
        """The loss above."""
        known = total_loss(logits, labels, nodes, sharpness_weight=self.sharpness_weight, supervised_on="original")
        agreement = consistency_loss(
            logits.sampled("original"),
            logits.sampled("current"),
            stop_gradient=True,
            temperature=self.temperature,
            confidence=self.confidence,
        )
        total = known.total + self.consistency_weight * agreement
        return Losses(total, {**known.terms, "consistency": agreement})
