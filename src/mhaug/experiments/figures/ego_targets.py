"""The three targets of Figure 3 on one ego-graph, given the number of dropped edges."""

from typing import Any

import numpy as np
from scipy.stats import spearmanr

from mhaug.experiments.figures.edge_roles import EdgeRoles
from mhaug.experiments.figures.fixed_count import Drops, Effort, drops_at_count

TARGETS = {"weak": (0.0, 0.05), "strong": (1.0, 0.05), "flat": (0.0, 1000.0)}  # (μ, σ)
HOPS, MESSAGE_HOPS, RATIO = 3, 2, 0.2


def edges_of(graph: Any) -> int:
    """Undirected edges."""
    return int(graph.edge_index.shape[1]) // 2


def edges_dropped(graph: Any) -> int:
    """How many edges every draw drops."""
    return round(RATIO * edges_of(graph))


def drops_under(name: str, graph: Any, *, seed: int, effort: Effort) -> Drops:
    """Draws from the target of this name."""
    strength, spread = TARGETS[name]
    count = edges_dropped(graph)
    term = {"strength": strength, "spread": spread}
    return drops_at_count(graph, **term, dropped=count, seed=seed, effort=effort, hops=MESSAGE_HOPS)


def rank_correlation(probability: np.ndarray, roles: EdgeRoles) -> float:
    """Spearman's, of drop probability and betweenness: do edges on many shortest paths drop more?"""
    return float(spearmanr(probability, roles.betweenness)[0])
