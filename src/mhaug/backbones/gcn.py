"""GCN: the graph convolution of Kipf and Welling, over the kept edges."""

import torch
from torch import Tensor, nn

from mhaug.backbones.features import Features
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.initialisation import glorot
from mhaug.backbones.layer_stack import Layer, LayerStack, widths
from mhaug.backbones.linear import linear
from mhaug.backbones.propagation import symmetric
from mhaug.backbones.sparse import Sparse
from mhaug.data.view import View


class GCNLayer(Layer):
    """H' = D^(-1/2) Ã' D^(-1/2) H W + b, with Ã' the kept edges and one self-connection a node (PyG's `GCNConv`)."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def transform(self, features: Features) -> Tensor:
        """H W."""
        return linear(features, self.weight)

    def forward(self, edges: Sparse, transformed: Tensor) -> Tensor:
        """The normalised sum over the kept neighbours and the node itself."""
        return edges @ transformed + self.bias

    def reset_parameters(self, rng: torch.Generator | None) -> None:
        """Glorot weights, zero bias."""
        glorot(self.weight, rng)
        nn.init.zeros_(self.bias)


class GCN(LayerStack):
    """A stack of graph convolutions. A node without kept edges sees itself alone.

    A float `edge_kept` weighs the edges, as PyG's `edge_weight` does, and gets a gradient.
    """

    reads_received = True
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
        super().__init__([GCNLayer(*size) for size in sizes], dropout=dropout, input_dropout=input_dropout)
        self.reset_parameters(rng)

    def edge_values(self, graph: GraphInput, view: View) -> Sparse:
        """w_ij / √(d_i d_j) of the kept edges.

        In a batch d_i is that of the whole graph, and the sampled neighbours stand for all: with every neighbour
        sampled the seeds get what the whole graph would give them, and else an estimate of it.
        """
        kept = graph.kept(view, self.replicas).to(graph.features.dtype)
        return symmetric(graph, kept) if view.received is None else _of_a_batch(graph, kept, view.received)


def _of_a_batch(graph: GraphInput, kept: Tensor, received: Tensor) -> Sparse:
    """The mean over the messages that were sampled stands for all `received` that arrive in the whole graph."""
    connections = graph.connections.with_self
    structure = connections.structure
    weights = connections.weights(kept)
    totals = structure.row_sums(weights)
    share = received[: len(totals)] / (totals - 1.0).clamp(min=1.0)
    weights = weights.where(structure.rows == structure.columns, weights * share.index_select(0, structure.rows))
    scale = (received + 1.0).rsqrt()
    ends = scale.index_select(0, structure.rows) * scale.index_select(0, structure.columns)
    return Sparse(structure, weights * ends)
