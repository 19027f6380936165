"""The edges that a fitted classifier predicts on, where its method has changed those of the training graph."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug.methods.method import Learner
from mhaug.methods.parts.rewired import RewiredLearner


@dataclass(frozen=True, eq=False)
class ChangedEdges:
    """Both edge lists, on the CPU. The new one belongs to the training graph alone: other graphs stay as they are."""

    before: Tensor
    after: Tensor

    @classmethod
    def of(cls, learner: Learner, edge_index: Tensor) -> "ChangedEdges | None":
        """Those of a method that rewires its graph, where it did; else None."""
        if not isinstance(learner, RewiredLearner) or learner.model.graph.edge_index is edge_index:
            return None
        return cls(edge_index.cpu(), learner.model.graph.edge_index.cpu())

    def replace(self, edge_index: Tensor) -> Tensor:
        """What to predict on in the place of this edge list."""
        same = edge_index.shape == self.before.shape and torch.equal(
            _ordered(edge_index.cpu()), _ordered(self.before)
        )
        return self.after.to(edge_index.device) if same else edge_index


def _ordered(edge_index: Tensor) -> Tensor:
    """The columns by source, then target: the order in which edges are listed means nothing."""
    by_target = edge_index[:, edge_index[1].argsort()]
    return by_target[:, by_target[0].argsort(stable=True)]
