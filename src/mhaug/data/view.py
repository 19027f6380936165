"""A view: one augmented graph as masks over the original, so that no shape ever changes."""

from collections.abc import Sequence
from dataclasses import dataclass

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


def stacked(views: Sequence[View]) -> View:
    """Several views as one with a leading axis, for networks with replicas. All must touch the same parts."""
    parts: list[Tensor | None] = []
    for name in ("edge_kept", "node_scale"):
        masks = [mask for view in views if (mask := getattr(view, name)) is not None]
        parts.append(torch.stack(masks) if masks else None)
    return View(*parts)


def node_scale(node_kept: Tensor) -> Tensor:
    """Scale of each node's feature row: 0 where dropped, V / kept elsewhere, so that column sums keep their mean.

    Dropping a node zeroes its features and leaves its edges, as in the released code of the paper (the node ratios
    of Eq. 5 count messages on the original edges). With every node dropped all scales are 0.
    """
    kept = node_kept.sum(-1, keepdim=True, dtype=torch.get_default_dtype())
    return node_kept * (node_kept.shape[-1] / kept.clamp(min=1.0))
