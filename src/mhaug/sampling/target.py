"""Eqs. 2-4: the distribution that augmented graphs are drawn from."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mhaug.per_replica import PerReplica, aligned, check_number
from mhaug.sampling.ego_change import ego_change, messages_of_whole_graph, messages_received
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.terms import BoundTerm, Term

ROUNDING = 1e-12  # of a sum of two shares


@dataclass(frozen=True)
class EgoTerm:
    """The wish for one part (edges or nodes) of an augmented graph.

    log P = -λ Σ_i (Δ_i - μ_i)² / (2 σ_i²) - λ' log C(M, d), with σ_i = a ε_i + b and ε_i in [0, 1] the entropy of
    the prediction at node i, as a share of its largest value. In the paper μ_i = μ for all nodes. With
    `strength_slope` μ_i = μ + c ε_i: sure nodes are changed more (c < 0) or less (c > 0) than unsure ones. μ_i is
    where an ego-graph is pulled to, not the mean that the chain delivers: Σ(Δ_i - μ_i)² weighs the spread over nodes
    as well. A number may be a tensor [chains]: then each chain has its own (the paper's move on the torch backend
    only).
    """

    strength: PerReplica = 0.3  # μ
    spread_slope: PerReplica = 0.0  # a
    spread_floor: PerReplica = 0.5  # b
    ego_weight: PerReplica = 1.0  # λ1 (λ3 for nodes)
    count_weight: PerReplica = 1.0  # λ2 (λ4 for nodes)
    strength_slope: PerReplica = 0.0  # c

    def __post_init__(self) -> None:
        check_number(self.strength, "strength", 0.0, 1.0)
        check_number(self.spread_floor, "spread_floor", 0.0, open_low=True)
        if not isinstance(self.spread_floor, Tensor):
            check_number(self.spread_slope, "spread_slope", -self.spread_floor, open_low=True)
        if not isinstance(self.strength, Tensor):
            # 1 - 0.9 is a little less than 0.1
            low, high = -self.strength - ROUNDING, 1.0 - self.strength + ROUNDING
            check_number(self.strength_slope, "strength_slope", low, high)
        check_number(self.ego_weight, "ego_weight", 0.0)
        check_number(self.count_weight, "count_weight", 0.0)

    def strengths(self, entropy: Tensor) -> Tensor:
        """μ_i = c ε_i + μ, in the shape of ε [..., V]."""
        return aligned(self.strength_slope, 1) * entropy + aligned(self.strength, 1)

    def spreads(self, entropy: Tensor) -> Tensor:
        """σ_i = a ε_i + b."""
        return aligned(self.spread_slope, 1) * entropy + aligned(self.spread_floor, 1)


class Statistics(NamedTuple):
    """All that the target needs to know of a set of kept units."""

    dropped: Tensor  # long [...]: d
    ego_change: Tensor  # float64 [..., V]: Δ_i
    extra: Tensor | None = None  # float64 [...]: the value of a term of the user's own


@dataclass(frozen=True)
class EgoTarget:
    """log P of one part, written once and used for edges (Eq. 2) and for nodes (Eq. 3)."""

    term: EgoTerm
    units: int
    original: Tensor  # long [V]: messages received in the whole graph
    received: Callable[[Tensor], Tensor]  # kept [..., units] -> messages received [..., V]
    extra: BoundTerm | None = None  # a term of the user's own

    def statistics(self, kept: Tensor) -> Statistics:
        """Count and ego change ratios of kept units [..., units], from scratch."""
        extra = None if self.extra is None else self.extra.log_prob(kept)
        return Statistics((~kept).sum(-1), ego_change(self.received(kept), self.original), extra)

    def log_prob(self, statistics: Statistics, entropy: Tensor) -> Tensor:
        """Unnormalised log P [...]. `entropy` [..., V] is an argument because P moves with the network."""
        term = self.term
        distance = (statistics.ego_change - term.strengths(entropy)) / term.spreads(entropy)
        ego_part = -0.5 * distance.square().sum(-1)
        own = term.ego_weight * ego_part - term.count_weight * log_subsets(self.units, statistics.dropped)
        return own if statistics.extra is None else own + statistics.extra


def edge_target(graph: UnitGraph, term: EgoTerm, hops: int, extra: Term | None = None) -> EgoTarget:
    """P_E: Ã' is thinned."""
    return EgoTarget(
        term,
        graph.num_units,
        messages_of_whole_graph(graph, hops),
        lambda kept: messages_received(graph, hops, edge_kept=kept),
        None if extra is None else extra.bind(graph),
    )


def node_target(graph: UnitGraph, term: EgoTerm, hops: int) -> EgoTarget:
    """P_V: dropped nodes send nothing, on the original edges."""
    return EgoTarget(
        term,
        graph.num_nodes,
        messages_of_whole_graph(graph, hops),
        lambda kept: messages_received(graph, hops, node_kept=kept),
    )


def log_subsets(units: int, dropped: Tensor) -> Tensor:
    """log C(M, d), the number of subgraphs that share a count."""
    chosen = dropped.double()
    return math.lgamma(units + 1) - torch.lgamma(chosen + 1) - torch.lgamma(units - chosen + 1)
