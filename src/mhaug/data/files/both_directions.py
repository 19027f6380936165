"""An edge list that names each undirected edge once -> one that lists both directions."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from torch_geometric.data import Data

EDGE_FIELDS = ("edge_attr", "edge_weight")


@dataclass(frozen=True)
class Listed:
    """A graph as its file lists it; `one_way` says that undirected edges may be listed in one direction only."""

    graph: Data
    one_way: bool


def add_missing_reverses(graph: Data) -> Data:
    """A copy of the graph in which every edge has a partner in the opposite direction, self-loops excepted.

    Edges that already have one get no second; an edge listed twice gets two. Added edges come last and carry the
    attributes of their partner.
    """
    lonely = _without_partner(graph.edge_index)
    both = copy.copy(graph)
    both.edge_index = torch.cat([graph.edge_index, graph.edge_index[:, lonely].flip(0)], dim=1)
    for field in EDGE_FIELDS:
        if isinstance(graph.get(field), Tensor):
            both[field] = torch.cat([graph[field], graph[field][lonely]])
    return both


def _without_partner(edge_index: Tensor) -> Tensor:
    """Numbers of the edges whose i-th repetition has no i-th repetition in the opposite direction."""
    source, target = edge_index.numpy()
    size = int(edge_index.max()) + 1 if edge_index.numel() else 1
    repetition = _repetition(source.astype(np.int64) * size + target)
    there = np.stack([source, target, repetition], axis=1)
    back = np.stack([target, source, repetition], axis=1)
    _, numbers = np.unique(np.concatenate([there, back]), axis=0, return_inverse=True)
    numbers = numbers.reshape(2, -1)
    lonely = ~np.isin(numbers[1], numbers[0])
    return torch.from_numpy(np.flatnonzero(lonely))


def _repetition(keys: np.ndarray[tuple[int], np.dtype[np.int64]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many earlier entries are the same: [7, 5, 7, 7] -> [0, 0, 1, 2]."""
    order = np.argsort(keys, kind="stable")
    _, first, inverse = np.unique(keys[order], return_index=True, return_inverse=True)
    repetition = np.empty_like(keys)
    repetition[order] = np.arange(len(keys)) - first[inverse]
    return repetition
