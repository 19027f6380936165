"""The rows of a batch out of features of any kind: dense, sparse, or in a file."""

import torch
from torch import Tensor

from mhaug import checks
from mhaug.backbones.features import SPARSE_BELOW, Features
from mhaug.backbones.sparse import Sparse, spend_warnings
from mhaug.backbones.structure import arrange
from mhaug.data.memory_mapped import MemoryMapped
from mhaug.minibatch.in_edges import ranges

Stored = Tensor | MemoryMapped


def stored(x: object) -> Stored:
    """Features as rows are best read from: CSR where fewer than one value in ten is non-zero. A file stays a file."""
    if isinstance(x, MemoryMapped):
        return x
    is_matrix = isinstance(x, Tensor) and x.dim() == 2 and min(x.shape) > 0
    rule = "node features [nodes, features]: a tensor, or MemoryMapped"
    checks.require(is_matrix, "x", rule, tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__)
    assert isinstance(x, Tensor)
    x = x.to(torch.get_default_dtype())
    spend_warnings()
    if x.layout == torch.strided:
        checks.require(bool(x.sum().isfinite()), "x", "finite everywhere", "values that are NaN or infinite")
        return x if int(x.count_nonzero()) >= SPARSE_BELOW * x.numel() else x.to_sparse_csr()
    return x.to_sparse_csr()


def rows_of(x: Stored, nodes: Tensor) -> Features:
    """Features of these nodes, as the backbones read them."""
    if isinstance(x, MemoryMapped):
        return x.rows(nodes)
    if x.layout == torch.strided:
        return x.index_select(0, nodes)
    pointers = x.crow_indices()
    place, owner = ranges(pointers[nodes], pointers[nodes + 1] - pointers[nodes])
    structure, source = arrange(owner, x.col_indices()[place], (len(nodes), x.shape[1]))
    return Sparse(structure, x.values()[place][source])
