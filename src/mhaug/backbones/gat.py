"""GAT: the graph attention of Veličković et al., over the kept edges."""

import functools

import torch
from torch import Tensor, nn

from mhaug import checks
from mhaug.backbones.attention import attention_product
from mhaug.backbones.features import Features
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.initialisation import glorot
from mhaug.backbones.layer_stack import Layer, LayerStack, widths
from mhaug.backbones.linear import linear
from mhaug.backbones.sparse import Sparse
from mhaug.data.view import View


class GATLayer(Layer):
    """h'_i = Σ_j α_ij W h_j + b, α_i = softmax_j leaky_relu(a_t · W h_i + a_s · W h_j), for each head.

    This is PyG's `GATConv`. j runs over the kept in-neighbours of i and i itself. Heads are laid side by side, or
    averaged (`concat=False`).
    """

    def __init__(self, inputs: int, outputs: int, *, heads: int, concat: bool, attention_dropout: float) -> None:
        super().__init__()
        self.heads, self.concat, self.attention_dropout = heads, concat, attention_dropout
        self.weight = nn.Parameter(torch.empty(inputs, heads * outputs))
        self.target_attention = nn.Parameter(torch.empty(heads, outputs))
        self.source_attention = nn.Parameter(torch.empty(heads, outputs))
        self.bias = nn.Parameter(torch.empty(heads * outputs if concat else outputs))

    def transform(self, features: Features) -> Tensor:
        """H W, the heads side by side."""
        return linear(features, self.weight)

    def forward(self, edges: Sparse, transformed: Tensor) -> Tensor:
        """The attention-weighted sum over the kept neighbours and the node itself."""
        by_head = transformed.unflatten(-1, (self.heads, -1))
        rate = self.attention_dropout if self.training else 0.0
        vectors = (self.target_attention, self.source_attention)
        mixed = attention_product(edges, by_head, vectors, rate, average=not self.concat)
        return (mixed.flatten(-2) if self.concat else mixed) + self.bias

    def reset_parameters(self, rng: torch.Generator | None) -> None:
        """Glorot weights and attention vectors, zero bias."""
        for parameter in (self.weight, self.target_attention, self.source_attention):
            glorot(parameter, rng)
        nn.init.zeros_(self.bias)


class GAT(LayerStack):
    """A stack of attention layers: heads side by side in hidden layers, averaged in the last.

    `hidden` is the total width of a hidden layer, shared out among the heads (64 = 8 heads × 8). The released code
    of the paper has 8 × 64: `hidden=512`. It also lays the heads of the last layer side by side, which gives
    8·C logits; averaging them is the repair. A node without kept edges attends to itself alone.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        hidden: int = 64,
        layers: int = 2,
        heads: int = 8,
        dropout: float = 0.5,
        input_dropout: float = 0.0,
        attention_dropout: float = 0.5,
        rng: torch.Generator | None = None,
    ) -> None:
        checks.whole_number(heads, "heads", 1)
        checks.number_in(attention_dropout, "attention_dropout", 0.0, 1.0)
        sizes = widths(in_features, hidden, num_classes, layers)
        checks.require(hidden % heads == 0, "hidden", f"a multiple of the {heads} heads", hidden)
        *inner, (last_inputs, _) = sizes
        layer = functools.partial(GATLayer, heads=heads, attention_dropout=attention_dropout)
        stack = [layer(inputs, outputs // heads, concat=True) for inputs, outputs in inner]
        stack.append(layer(last_inputs, num_classes, concat=False))
        super().__init__(stack, dropout=dropout, input_dropout=input_dropout)
        self.heads = heads
        self.reset_parameters(rng)

    def edge_values(self, graph: GraphInput, view: View) -> Sparse:
        """Whether each entry is kept."""
        kept = graph.kept(view, self.replicas)
        checks.require(kept.dtype == torch.bool, "edge_kept", "a bool tensor for GAT", kept.dtype)
        connections = graph.connections.with_self
        return Sparse(connections.structure, connections.weights(kept))
