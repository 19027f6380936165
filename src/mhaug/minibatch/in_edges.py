"""Who sends to each node: the columns of `edge_index` sorted by target. Built once for a graph."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mhaug import checks

# node and column numbers below this fit into 32 bits, which halves the index of a large graph
_SHORT_LIMIT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class InEdges:
    """A graph in compressed columns: node i is sent to by `sources[pointers[i]]` to `sources[pointers[i + 1] - 1]`.

    `columns` says which column of `edge_index` each entry is; columns of one target stay in their order.
    """

    pointers: Tensor  # long [V + 1]
    sources: Tensor  # int [E]
    columns: Tensor  # int [E]

    @classmethod
    def of(cls, edge_index: Tensor, num_nodes: int) -> "InEdges":
        """Sort the columns of a graph. Messages flow from `edge_index[0]` to `edge_index[1]`, as in PyG."""
        checks.edge_index(edge_index, "edge_index", num_nodes)
        source, target = edge_index
        counts = torch.bincount(target, minlength=num_nodes)
        pointers = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        short = max(num_nodes, edge_index.shape[1]) < _SHORT_LIMIT
        columns = _sorted_by(target, num_nodes).to(torch.int32 if short else torch.int64)
        return cls(pointers, source.to(columns.dtype).index_select(0, columns), columns)

    @property
    def num_nodes(self) -> int:
        return self.pointers.shape[0] - 1

    @property
    def device(self) -> torch.device:
        return self.pointers.device

    def degrees(self, nodes: Tensor) -> Tensor:
        """How many columns arrive at each of these nodes."""
        return self.pointers[nodes + 1] - self.pointers[nodes]


def ranges(starts: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """starts[i], …, starts[i] + lengths[i] - 1 for each i, one after another; and the i of each."""
    owner = torch.arange(len(lengths), device=lengths.device).repeat_interleave(lengths)
    before = lengths.cumsum(0) - lengths
    place = torch.arange(len(owner), device=lengths.device) + (starts - before).index_select(0, owner)
    return place, owner


def _sorted_by(target: Tensor, num_nodes: int) -> Tensor:
    """Column numbers in the order of their targets. A count is enough, and on a CPU ten times as fast as a sort."""
    if target.device.type != "cpu":
        return torch.argsort(target, stable=True)
    from scipy import sparse

    size = len(target)
    whole = np.int32 if size < _SHORT_LIMIT else np.int64
    # the entry of column e lies at (e, target of e): turned round, each target lists its columns in their order
    pointers, ones = np.arange(size + 1, dtype=whole), np.ones(size, dtype=np.bool_)
    matrix = sparse.csr_array((ones, target.numpy().astype(whole), pointers), shape=(size, num_nodes))
    return torch.from_numpy(matrix.tocsc().indices)
