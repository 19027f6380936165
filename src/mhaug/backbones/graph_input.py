"""Everything that a layer needs of one graph, made once and used for every view of it."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import torch
from torch import Tensor

from mhaug import checks
from mhaug.backbones.connections import BothKinds, connect
from mhaug.backbones.features import Features, as_features
from mhaug.backbones.sparse import Sparse
from mhaug.data.view import View

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class GraphInput:
    """A graph as the backbones read it. Messages flow from `edge_index[0]` to `edge_index[1]`, as in PyG.

    `edge_weight` and `edge_attr` are only handed on to a user's own module (`PyGModule`); the built-in layers
    ignore them. `inner` is for batches: the first nodes and columns of this graph, all that the next layer needs.
    """

    features: Features
    edge_index: Tensor
    connections: BothKinds = field(repr=False)
    edge_weight: Tensor | None = None
    edge_attr: Tensor | None = None
    inner: "GraphInput | None" = None
    _memory: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def from_data(cls, data: Any, *, dtype: torch.dtype | None = None) -> "GraphInput":
        """From any object with `x` and `edge_index` (and perhaps `num_nodes`, `edge_weight`, `edge_attr`).

        `x` may be dense or torch-sparse; it becomes `dtype`, torch's default where None. Nothing is changed.
        """
        features = as_features(getattr(data, "x", None), dtype)
        num_nodes = features.shape[0]
        stated = getattr(data, "num_nodes", None)
        checks.require(stated in (None, num_nodes), "num_nodes", f"the rows of 'x', {num_nodes}", stated)
        edge_index = getattr(data, "edge_index", None)
        checks.edge_index(edge_index, "edge_index", num_nodes)
        assert isinstance(edge_index, Tensor)
        edge_index = edge_index.long()
        extras: dict[str, Any] = {name: getattr(data, name, None) for name in ("edge_weight", "edge_attr")}
        for name, extra in extras.items():
            rows = extra.shape[0] if extra is not None else edge_index.shape[1]
            checks.require(rows == edge_index.shape[1], name, "one row an edge", rows)
        return cls(features, edge_index, connect(edge_index, num_nodes), **extras)

    @property
    def num_nodes(self) -> int:
        return self.features.shape[0]

    @property
    def num_edges(self) -> int:
        return self.edge_index.shape[1]

    @property
    def num_features(self) -> int:
        return self.features.shape[1]

    @cached_property
    def dense_features(self) -> Tensor:
        """X as an ordinary [V, F] tensor, made on first use."""
        return self.features.to_dense() if isinstance(self.features, Sparse) else self.features

    def with_features(self, x: Tensor) -> "GraphInput":
        """The same edges with other features, for example features that want a gradient."""
        features = as_features(x, self.features.dtype)
        checks.require(x.shape[0] == self.num_nodes, "x", f"of {self.num_nodes} rows", tuple(x.shape))
        return replace(self, features=features)

    def with_edges(self, edge_index: Tensor) -> "GraphInput":
        """The same features with other edges, which have neither weights nor attributes."""
        if edge_index is self.edge_index:
            return self
        return GraphInput(self.features, edge_index, connect(edge_index, self.num_nodes))

    def kept(self, view: View, replicas: int | None = None) -> Tensor:
        """The view's edges: bool [E], or float [E] where it weighs them instead; [..., R, E] for replicas."""
        kept = view.edge_kept
        if kept is None:
            kept = torch.ones(self.num_edges, dtype=torch.bool, device=self.edge_index.device)
        _check_mask(kept, "edge_kept", replicas, self.num_edges)
        return kept if replicas is None or kept.dim() > 1 else kept.expand(replicas, -1)

    def scaled(self, rows: Tensor, view: View, replicas: int | None = None) -> Tensor:
        """m ⊙ rows: each node's row times the view's scale of that node.

        `rows` are [V, D], or [V, R, D] for replicas; axes of the view before R are put there.
        """
        scale = view.node_scale
        ahead = () if view.edge_kept is None or replicas is None else view.edge_kept.shape[:-2]
        if scale is not None:
            _check_mask(scale, "node_scale", replicas, self.num_nodes)
            ahead = ahead if replicas is None else scale.shape[:-2]
        if ahead:
            rows = rows.view(rows.shape[0], *[1] * len(ahead), *rows.shape[1:]).expand(-1, *ahead, *rows.shape[1:])
        if scale is None:
            return rows
        scale = scale if replicas is None or scale.dim() > 1 else scale.expand(replicas, -1)
        return rows * scale.to(rows.dtype).movedim(-1, 0).unsqueeze(-1)

    def remembered(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gave the first time; for what depends on the graph alone."""
        if key not in self._memory:
            self._memory[key] = make()
        found: T = self._memory[key]
        return found

    def to(self, device: torch.device | str) -> "GraphInput":
        """The same graph on another device."""
        return GraphInput(
            self.features.to(device),
            self.edge_index.to(device),
            self.connections.to(device),
            edge_weight=None if self.edge_weight is None else self.edge_weight.to(device),
            edge_attr=None if self.edge_attr is None else self.edge_attr.to(device),
        )


def _check_mask(mask: Tensor, name: str, replicas: int | None, size: int) -> None:
    """One row for all, or for replicas one row each, perhaps for several views at once."""
    shape = (size,) if replicas is None else (replicas, size)
    fits = mask.shape == (size,) or (replicas is not None and mask.shape[-2:] == shape)
    checks.require(fits, name, f"a tensor of shape {shape}", tuple(mask.shape))
