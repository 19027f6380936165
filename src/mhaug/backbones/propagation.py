"""The normalised adjacency, and mixed-order propagation: the mean of what arrives after 0, 1, …, K rounds."""

from torch import Tensor

from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.sparse import Sparse


def mixed_order(graph: GraphInput, rows: Tensor, order: int) -> Tensor:
    """(1 / (K + 1)) Σ_{k=0}^{K} Â^k rows, for rows [V, ...] of any number of columns.

    A product with weights commutes with it, as does a scale of feature rows with the product: (Â^k (m ⊙ X)) W =
    Â^k (m ⊙ (X W)). So X stays sparse, and V × hidden numbers are propagated instead of V × features.
    """
    matrix = symmetric_average(graph)
    total = moved = rows
    for _ in range(order):
        moved = matrix @ moved
        total = total + moved
    return total / (order + 1)


def symmetric_average(graph: GraphInput) -> Sparse:
    """Â = D^(-1/2) (A + I) D^(-1/2), with one self-connection a node; values [entries], which serve all replicas."""

    def make() -> Sparse:
        return symmetric(graph, graph.edge_index.new_ones(graph.num_edges, dtype=graph.features.dtype))

    return graph.remembered("symmetric average", make)


def symmetric(graph: GraphInput, kept: Tensor) -> Sparse:
    """w_ij / √(d_i d_j) of kept edges [..., E], where d_i sums the weights that arrive at i, its own included."""
    connections = graph.connections.with_self
    structure = connections.structure
    weights = connections.weights(kept)
    scale = structure.row_sums(weights).rsqrt()
    ends = scale.index_select(0, structure.rows) * scale.index_select(0, structure.columns)
    return Sparse(structure, weights * ends)
