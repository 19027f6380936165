"""Mixed-order propagation: the mean of what arrives after 0, 1, …, K rounds of messages."""

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
    return graph.remembered("symmetric average", lambda: _symmetric_average(graph))


def _symmetric_average(graph: GraphInput) -> Sparse:
    connections = graph.connections.with_self
    structure = connections.structure
    weights = connections.weights(graph.edge_index.new_ones(graph.num_edges, dtype=graph.features.dtype))
    scale = structure.row_sums(weights).rsqrt()
    return Sparse(structure, weights * scale[structure.rows] * scale[structure.columns])
