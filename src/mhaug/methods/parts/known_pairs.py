"""A set of node pairs that can be asked quickly whether a pair is in it."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class KnownPairs:
    """Pairs {u, v} with u < v, each once, sorted: membership is a binary search, a block of rows is a slice."""

    num_nodes: int
    keys: Tensor  # long [M], u·V + v, ascending

    @classmethod
    def of(cls, pairs: Tensor, num_nodes: int) -> "KnownPairs":
        """From columns [2, P] in any order and direction; self-loops are left out."""
        return cls(num_nodes, pair_keys(pairs[:, pairs[0] != pairs[1]], num_nodes).unique())

    @property
    def count(self) -> int:
        """M."""
        return int(self.keys.shape[0])

    @property
    def index(self) -> Tensor:
        """The pairs as columns, [2, M]."""
        return torch.stack([self.keys // self.num_nodes, self.keys % self.num_nodes])

    def contains(self, pairs: Tensor) -> Tensor:
        """Whether each column of `pairs` [2, P] is in the set, in either direction."""
        if self.count == 0:
            return torch.zeros_like(pairs[0], dtype=torch.bool)
        keys = pair_keys(pairs, self.num_nodes)
        place = torch.searchsorted(self.keys, keys).clamp(max=self.count - 1)
        return self.keys[place] == keys

    def in_rows(self, first: int, last: int) -> Tensor:
        """The pairs whose smaller node is in first..last-1, as columns."""
        ends = torch.tensor([first, last], device=self.keys.device) * self.num_nodes
        low, high = torch.searchsorted(self.keys, ends).tolist()
        keys = self.keys[low:high]
        return torch.stack([keys // self.num_nodes, keys % self.num_nodes])


def pair_keys(pairs: Tensor, num_nodes: int) -> Tensor:
    """One whole number for each pair, the same in both directions."""
    return torch.minimum(pairs[0], pairs[1]) * num_nodes + torch.maximum(pairs[0], pairs[1])
