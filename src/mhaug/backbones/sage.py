"""GraphSAGE with the mean aggregator, over the kept edges."""

import torch
from torch import Tensor, nn

from mhaug.backbones.features import Features
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.initialisation import fan_in
from mhaug.backbones.layer_stack import Layer, LayerStack, widths
from mhaug.backbones.linear import linear
from mhaug.backbones.sparse import Sparse
from mhaug.data.view import View


class SAGELayer(Layer):
    """h'_i = mean_{j → i} h_j · W_l + h_i · W_r + b (PyG's `SAGEConv`).

    The mean commutes with W_l, so both products are one: H · [W_l | W_r].
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.neighbour_weight = nn.Parameter(torch.empty(inputs, outputs))
        self.own_weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def transform(self, features: Features) -> Tensor:
        """H · [W_l | W_r]."""
        return linear(features, torch.cat([self.neighbour_weight, self.own_weight], dim=-1))

    def forward(self, edges: Sparse, transformed: Tensor) -> Tensor:
        """The mean over the kept neighbours, plus the node's own part."""
        neighbours, own = transformed.chunk(2, dim=-1)
        return edges @ neighbours.contiguous() + own[: edges.shape[0]] + self.bias

    def reset_parameters(self, rng: torch.Generator | None) -> None:
        """The law of `torch.nn.Linear` throughout."""
        inputs = self.own_weight.shape[0]
        for parameter in (self.neighbour_weight, self.own_weight, self.bias):
            fan_in(parameter, inputs, rng)


class SAGE(LayerStack):
    """A stack of mean aggregators. A node without kept in-edges has a neighbour mean of zero.

    A self-loop is an ordinary edge here. A float `edge_kept` makes the mean a weighted one, and gets a gradient.
    """

    gives_first_rows = True

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        hidden: int = 64,
        layers: int = 2,
        dropout: float = 0.5,
        input_dropout: float = 0.0,
        rng: torch.Generator | None = None,
    ) -> None:
        sizes = widths(in_features, hidden, num_classes, layers)
        super().__init__([SAGELayer(*size) for size in sizes], dropout=dropout, input_dropout=input_dropout)
        self.reset_parameters(rng)

    def edge_values(self, graph: GraphInput, view: View) -> Sparse:
        """w_ij / Σ_j w_ij, and 0 throughout where nothing arrives."""
        connections = graph.connections.neighbours
        structure = connections.structure
        weights = connections.weights(graph.kept(view, self.replicas).to(graph.features.dtype))
        totals = structure.row_sums(weights)
        shares = totals.masked_fill(totals == 0, 1.0).reciprocal()
        return Sparse(structure, weights * shares.index_select(0, structure.rows))
