"""What a compiled loop works on: one part of one chain, as plain arrays.

Node and unit numbers are unsigned: numba then does not ask each index whether it counts from the end.
"""

from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.target import EgoTerm

# columns of `Part.terms`: what a move reads of a node lies side by side
INVERSE, WEIGHT, STRENGTH = 0, 1, 2


class Wiring(NamedTuple):
    """Who sends to whom. Shared by all chains, and never copied."""

    pointers: np.ndarray  # [V + 1]: columns that leave node i are pointers[i] .. pointers[i + 1] - 1
    targets: np.ndarray  # [L]
    units: np.ndarray  # [L]: the unit that carries the column; all equal to M for the node part (never dropped)
    unit_pointers: np.ndarray  # [M + 1]: the columns of each unit, in unit order
    unit_sources: np.ndarray  # [L]
    unit_targets: np.ndarray  # [L]
    ends: np.ndarray  # [2, M] where every unit is a plain pair u-v, else [2, 0]: pairs are counted twice as fast


class Part(NamedTuple):
    """Where one chain stands in one part. Two buffers: the one in use, and one for the next candidate."""

    wiring: Wiring
    terms: np.ndarray  # float64 [V, 3]: 1 / messages received in the whole graph, λ / (2 σ_i²), μ_i
    kept: np.ndarray  # bool [2, units + 1]; the last entry stands for columns that no unit carries, always True
    levels: np.ndarray  # int32 or int64 [2, hops + 1, V]: Ã'^l m for l = 0..hops
    counts: np.ndarray  # int64 [2]: buffer in use, units dropped
    numbers: np.ndarray  # float64 [2]: λ', σ_Δ
    known: np.ndarray  # float64 [1]: ego term of the buffer in use, from the last resample; NaN after a change
    delta: np.ndarray  # int64 [hops + 1, V]: scratch of a local move, zero between moves
    touched: np.ndarray  # uint32 [hops + 1, V]
    sizes: np.ndarray  # int64 [hops + 1]: how many are touched at each level
    window: np.ndarray  # float64 [units]: scratch of the subset
    extra: tuple[Any, ...]  # memory of a term of the user's own, if any


def wire(graph: UnitGraph) -> Wiring:
    """Sort the columns by source, and by unit."""
    source, target, unit = graph.messages.cpu().numpy()
    by_source, by_unit = np.argsort(source, kind="stable"), np.argsort(unit, kind="stable")
    return Wiring(
        pointers=_pointers(source, graph.num_nodes),
        targets=target[by_source].astype(np.uint32),
        units=unit[by_source].astype(np.uint32),
        unit_pointers=_pointers(unit, graph.num_units),
        unit_sources=source[by_unit].astype(np.uint32),
        unit_targets=target[by_unit].astype(np.uint32),
        ends=_plain_pairs(graph),
    )


def new_part(
    wiring: Wiring,
    term: EgoTerm,
    units: int,
    original: np.ndarray,
    hops: int,
    step_size: float,
    *,
    extra: tuple[Any, ...] = (),
) -> Part:
    """Fresh arrays for one chain; `place` (in `steps.py`) and `weigh` fill them.

    `original` [V] are the messages received in the whole graph.
    """
    nodes = len(wiring.pointers) - 1
    terms = np.zeros((nodes, 3))
    terms[:, INVERSE] = 1.0 / original
    # half the bytes where the numbers allow: large graphs are bound by memory
    narrow = int(original.max()) < 2**31
    return Part(
        wiring=wiring,
        terms=terms,
        kept=np.ones((2, units + 1), dtype=np.bool_),
        levels=np.zeros((2, hops + 1, nodes), dtype=np.int32 if narrow else np.int64),
        counts=np.zeros(2, dtype=np.int64),
        numbers=np.array([term.count_weight, step_size]),
        known=np.full(1, np.nan),
        delta=np.zeros((hops + 1, nodes), dtype=np.int64),
        touched=np.zeros((hops + 1, nodes), dtype=np.uint32),
        sizes=np.zeros(hops + 1, dtype=np.int64),
        window=np.empty(units),
        extra=extra,
    )


def weigh(part: Part, term: EgoTerm, entropy: Tensor) -> None:
    """What ε [V] makes of the nodes' terms."""
    part.terms[:, WEIGHT] = 0.5 * term.ego_weight / term.spreads(entropy).square().numpy()
    part.terms[:, STRENGTH] = term.strengths(entropy).numpy()
    part.known[0] = np.nan


def without_units(wiring: Wiring, units: int) -> Wiring:
    """The wiring as the node part sees it: no column is ever dropped."""
    return wiring._replace(units=np.full_like(wiring.units, units))


def _plain_pairs(graph: UnitGraph) -> np.ndarray:
    plain = not graph.directed and graph.messages.shape[1] == 2 * graph.num_units
    return graph.unit_edges[:, : graph.num_units if plain else 0].cpu().numpy().astype(np.uint32)


def _pointers(sorted_by: np.ndarray, size: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(sorted_by, minlength=size))]).astype(np.int64)
