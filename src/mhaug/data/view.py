"""A view: one augmented graph as masks over the original, so that no shape ever changes."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class View:
    """What a model is to see of a graph: which edges are kept, and by how much each node's features are scaled.

    `edge_kept` is over the columns of `edge_index`; a dropped node has scale 0. `None` means untouched.
    For networks with replicas both may have a leading replica axis.
    """

    edge_kept: Tensor | None = None  # bool [E]
    node_scale: Tensor | None = None  # float [V]
    # float [V], for a batch cut from a larger graph: messages that each node receives there under this view
    received: Tensor | None = None
    # what networks worked out of it, for the next use of the same view
    memory: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def first(self, nodes: int, columns: int) -> "View":
        """The view of the first nodes and columns alone, for a layer after the first: there no node is scaled."""
        edges, received = self.edge_kept, self.received
        return View(
            edge_kept=None if edges is None else edges[..., :columns],
            received=None if received is None else received[..., :nodes],
        )


def stacked(views: Sequence[View]) -> View:
    """Several views as one with a leading axis, for networks with replicas. All must touch the same parts."""
    parts: dict[str, Tensor] = {}
    for name in ("edge_kept", "node_scale"):
        masks = [mask for view in views if (mask := getattr(view, name)) is not None]
        if masks:
            parts[name] = torch.stack(masks)
    return View(parts.get("edge_kept"), parts.get("node_scale"))


def node_scale(node_kept: Tensor) -> Tensor:
    """Scale of each node's feature row: 0 where dropped, V / kept elsewhere, so that column sums keep their mean.

    Dropping a node zeroes its features and leaves its edges, as in the released code of the paper (the node ratios
    of Eq. 5 count messages on the original edges). With every node dropped all scales are 0.
    """
    kept = node_kept.sum(-1, keepdim=True, dtype=torch.get_default_dtype())
    return node_kept * (node_kept.shape[-1] / kept.clamp(min=1.0))
