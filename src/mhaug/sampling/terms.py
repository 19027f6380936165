"""A term of one's own in the target of the edges, beside the ego term. No move has to know of it.

A term says its full value, the difference that one flip makes, and what to remember when a flip is accepted; that is
all that any move asks. `KeepDegrees` is the example to copy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from mhaug import checks
from mhaug.sampling.subgraph import UnitGraph


class CompiledTerm(NamedTuple):
    """A bound term for compiled loops: its memory, and three functions that numba can compile.

    `kept` is a bool array [M + 1] (the last entry is not a unit); `state` is changed in place.
    """

    state: tuple[np.ndarray, ...]
    fill: Callable[[Any, np.ndarray], float]  # (state, kept) -> full value; fills the memory
    gain: Callable[[Any, np.ndarray, int], float]  # (state, kept, unit) -> difference if the unit were flipped
    apply: Callable[[Any, np.ndarray, int], None]  # (state, kept, unit): remember a flip, before `kept` shows it


class BoundTerm(Protocol):
    """A term on one graph."""

    def log_prob(self, kept: Tensor) -> Tensor:
        """The full value [...] for units kept [..., M], in double precision: the reference."""
        ...

    def compiled(self) -> CompiledTerm | None:
        """For the fast backend, with memory of its own at each call; None: such a target runs on torch."""
        ...


class Term(Protocol):
    """A wish for the kept edges."""

    def bind(self, graph: UnitGraph) -> BoundTerm:
        """The term on this graph."""
        ...


@dataclass(frozen=True)
class KeepDegrees:
    """Keep degrees close to the original: log P gets -weight · Σ_i (edges that node i has lost)²."""

    weight: float = 0.1

    def __post_init__(self) -> None:
        checks.number_in(self.weight, "weight", 0.0)

    def bind(self, graph: UnitGraph) -> "LostEdges":
        """On this graph."""
        return LostEdges(graph.unit_edges, graph.num_nodes, self.weight)


@dataclass(frozen=True, eq=False)
class LostEdges:
    """`KeepDegrees` on one graph."""

    ends: Tensor  # long [2, M]
    num_nodes: int
    weight: float

    def log_prob(self, kept: Tensor) -> Tensor:
        """From scratch."""
        lost = torch.zeros(*kept.shape[:-1], self.num_nodes, dtype=torch.long, device=kept.device)
        for end in self.ends:
            lost = lost.index_add(-1, end, (~kept).long())
        return -self.weight * lost.square().sum(-1).double()

    def compiled(self) -> CompiledTerm:
        """The memory is the number of lost edges of each node."""
        one, other, weight = *self.ends.cpu().numpy(), self.weight

        def fill(state: Any, kept: np.ndarray) -> float:
            one, other, lost, weight = state
            lost[:] = 0
            for unit in range(len(one)):
                gone = 1 - kept[unit]
                lost[one[unit]] += gone
                lost[other[unit]] += gone
            return -weight[0] * (lost * lost).sum()

        def gain(state: Any, kept: np.ndarray, unit: int) -> float:
            one, other, lost, weight = state
            step = 1 if kept[unit] else -1
            change = (2 * lost[one[unit]] + step) + (2 * lost[other[unit]] + step)
            return -weight[0] * step * change

        def apply(state: Any, kept: np.ndarray, unit: int) -> None:
            one, other, lost, _ = state
            step = 1 if kept[unit] else -1
            lost[one[unit]] += step
            lost[other[unit]] += step

        memory = (one, other, np.zeros(self.num_nodes, dtype=np.int64), np.array([weight]))
        return CompiledTerm(memory, fill, gain, apply)
