"""Layers one after another, over views that share the first product X·W."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from mhaug import checks
from mhaug.backbones.backbone import WHOLE, Backbone
from mhaug.backbones.dropout import dropout
from mhaug.backbones.features import Features, drop_features
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.sparse import Sparse
from mhaug.data.view import View
from mhaug.per_replica import PerReplica, aligned, is_on


class Layer(nn.Module, ABC):
    """One round of message passing, in two parts: a product with the weights, then a mix over the edges."""

    @abstractmethod
    def transform(self, features: Features) -> Tensor:
        """The products with the weights, linear in the features and row by row."""

    @abstractmethod
    def forward(self, edges: Sparse, transformed: Tensor) -> Tensor:
        """The transformed rows mixed over the kept edges."""

    @abstractmethod
    def reset_parameters(self, rng: torch.Generator | None) -> None:
        """Draw the parameters anew."""


class LayerStack(Backbone):
    """Layers with ReLU and dropout between them.

    A node's scale m commutes with the first product, (m ⊙ X) W = m ⊙ (X W), so one product serves all views,
    forward and backward. With input dropout in training each view has features of its own, and its own product.
    """

    def __init__(self, layers: Sequence[Layer], *, dropout: float, input_dropout: float) -> None:
        super().__init__()
        checks.number_in(dropout, "dropout", 0.0, 1.0)
        checks.number_in(input_dropout, "input_dropout", 0.0, 1.0)
        self.layers = nn.ModuleList(layers)
        self.dropout: PerReplica = dropout
        self.input_dropout: PerReplica = input_dropout

    @property
    def hops(self) -> int:
        """One a layer."""
        return len(self.layers)

    @abstractmethod
    def edge_values(self, graph: GraphInput, view: View) -> Sparse:
        """What all layers need of one view: a mixing coefficient at each entry; for GAT, whether it is kept."""

    def shared(self, graph: GraphInput) -> Callable[[View], Tensor]:
        """Logits [V, C] by view, with one first product for all views where input dropout allows it."""
        product = self.products(graph)
        return lambda view: self.from_product(graph, product(), view)

    def products(self, graph: GraphInput) -> Callable[[], Tensor]:
        """First products X·W, [V, D] or [V, R, D]: always the same, or with input dropout each a new one."""
        if self.training and is_on(self.input_dropout):
            return lambda: self.first_product(drop_features(graph.features, self.input_dropout, self.replicas))
        product = self.first_product(graph.features)
        return lambda: product

    def first_product(self, features: Features) -> Tensor:
        """What the first layer makes of features before any message is sent; linear in them."""
        return self._layers()[0].transform(features)

    def from_product(
        self, graph: GraphInput, product: Tensor, view: View = WHOLE, *, layers: int | None = None
    ) -> Tensor:
        """Logits [V, C] from a first product; or, of so many `layers` alone, rows [V, D] before their ReLU.

        Of a batch with an `inner` graph only the rows of its first nodes, the seeds among them.
        """
        edges = self._edges(graph, view)
        first, *rest = self._layers()[:layers]
        hidden = first(edges, graph.scaled(product, view, self.replicas))
        for layer in rest:
            if (inner := graph.inner) is not None:
                graph, view = inner, view.first(inner.num_nodes, inner.num_edges)
                edges, hidden = self._edges(graph, view), hidden[: graph.num_nodes]
            hidden = dropout(hidden.relu(), aligned(self.dropout, 1)) if self.training else hidden.relu()
            hidden = layer(edges, layer.transform(hidden))
        assert isinstance(hidden, Tensor)
        return hidden if self.replicas is None else hidden.movedim(0, -2)

    def reset_parameters(self, rng: torch.Generator | None = None) -> None:
        """Draw all parameters anew, layer by layer."""
        for layer in self._layers():
            layer.reset_parameters(rng)

    def _edges(self, graph: GraphInput, view: View) -> Sparse:
        """Made once for a view: the sample that is "current" at one step is "previous" at the next."""
        if view.edge_kept is None:
            return graph.remembered(("edges", type(self), self.replicas), lambda: self.edge_values(graph, view))
        key = (type(self), self.replicas, graph.connections)
        if key not in view.memory:
            # a gradient can flow through weights once only
            if view.edge_kept.requires_grad:
                return self.edge_values(graph, view)
            view.memory[key] = self.edge_values(graph, view)
        edges: Sparse = view.memory[key]
        return edges

    def _layers(self) -> list[Layer]:
        return [layer for layer in self.layers if isinstance(layer, Layer)]


def widths(in_features: int, hidden: int, num_classes: int, layers: int) -> list[tuple[int, int]]:
    """Inputs and outputs of each layer: features → hidden → … → classes."""
    checks.whole_number(in_features, "in_features", 1)
    checks.whole_number(hidden, "hidden", 1)
    checks.whole_number(num_classes, "num_classes", 1)
    checks.whole_number(layers, "layers", 1)
    return list(pairwise([in_features, *[hidden] * (layers - 1), num_classes]))
