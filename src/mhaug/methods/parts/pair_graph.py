"""A set of node pairs as a graph in both directions, and z_u · z_v at each pair with a gradient."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from mhaug.backbones.connections import BothKinds, connect
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.sparse import Sparse
from mhaug.methods.parts.pair_products import gathered_products


@dataclass(frozen=True, eq=False)
class PairGraph:
    """Pairs [2, P], and the edges u → v, v → u of each, in that order, followed by self-loops if any."""

    pairs: Tensor
    edge_index: Tensor  # [2, 2 P + loops]
    connections: BothKinds

    @classmethod
    def of(cls, pairs: Tensor, num_nodes: int, loops: Tensor | None = None) -> "PairGraph":
        """`loops` are columns [2, L] that each view of the graph keeps."""
        columns = [pairs, pairs.flip(0), pairs[:, :0] if loops is None else loops]
        edge_index = torch.cat(columns, 1)
        return cls(pairs, edge_index, connect(edge_index, num_nodes))

    def graph(self, original: GraphInput) -> GraphInput:
        """These edges with the features of the original."""
        return GraphInput(original.features, self.edge_index, self.connections)

    def on_columns(self, values: Tensor, *, loops: float = 1.0, times: Tensor | None = None) -> Tensor:
        """One value a pair -> one value a column of `edge_index`; `times` [2, P] weighs the two directions."""
        rest = self.edge_index.shape[1] - 2 * values.shape[0]
        there, back = (values, values) if times is None else values * times
        return torch.cat([there, back, values.new_full((rest,), loops)])

    def scores(self, codes: Tensor) -> Tensor:
        """z_u · z_v of each pair, [P]."""
        found: Tensor = _PairScores.apply(codes, self)
        return found


class _PairScores(torch.autograd.Function):
    """Where the pairs are a graph, the gradient is one sparse product: the same bits every time on a GPU."""

    @staticmethod
    def forward(ctx: Any, codes: Tensor, graph: PairGraph) -> Tensor:
        ctx.graph = graph
        ctx.save_for_backward(codes)
        return gathered_products(codes, graph.pairs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (codes,) = ctx.saved_tensors
        neighbours = ctx.graph.connections.neighbours
        values = neighbours.weights(ctx.graph.on_columns(grad, loops=0.0))
        return Sparse(neighbours.structure, values) @ codes, None
