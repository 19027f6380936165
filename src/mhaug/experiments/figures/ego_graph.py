"""Figure 3: one 3-hop ego-graph under three targets, with the same number of edges dropped in each.

The ego-graph is taken as a graph of its own and sampled given the count; what the text says of the targets is checked
as numbers.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import chi2

from mhaug import checks
from mhaug.experiments.figures.edge_roles import EdgeRoles, edge_roles, ego_graph, within_reach
from mhaug.experiments.figures.ego_choice import RULE, shown_node, typical_draw
from mhaug.experiments.figures.ego_drawing import GAP, layout, smallest_gap
from mhaug.experiments.figures.ego_graph_picture import draw as draw
from mhaug.experiments.figures.ego_survey import nodes_to_survey, survey_claims, surveyed
from mhaug.experiments.figures.ego_targets import (
    HOPS,
    MESSAGE_HOPS,
    TARGETS,
    drops_under,
    edges_dropped,
    edges_of,
    rank_correlation,
)
from mhaug.experiments.figures.fixed_count import Drops, Effort
from mhaug.experiments.figures.request import Record, Request, at_least, at_most

FALSE_ALARM = 1e-3
USUAL = Effort(chains=4, draws=3000, warmup=300)
# Swaps of a flat target are random transpositions: an edge's state is correlated by exp(-1) from round to round.
# Eight rounds leave 3e-4 of it, so that draws count as independent.
INDEPENDENT = Effort(chains=4, draws=1500, warmup=5, rounds=8)
SHORT = Effort(chains=2, draws=200, warmup=100)


def measure(request: Request, *, effort: Effort = USUAL, flat: Effort = INDEPENDENT, others: int = 12) -> Record:
    """Drop probabilities under the three targets, a sample of each, and the claims."""
    data = request.graph()
    node = shown_node(data) if request.node is None else request.node
    checks.require(0 <= node < data.num_nodes, "node", f"in 0..{data.num_nodes - 1}", node)
    graph, centre = ego_graph(data, node, HOPS)
    checks.require(10 <= edges_of(graph) <= 400, "node", "one whose 3-hop ego-graph has 10 to 400 edges", node)
    efforts = {"weak": effort, "strong": effort, "flat": flat}
    jobs: list[Callable[[], Any]] = [
        partial(drops_under, name, graph, seed=request.seed, effort=efforts[name]) for name in TARGETS
    ]
    nodes = nodes_to_survey(data, seed=request.seed, count=others, but=node)
    jobs += [partial(surveyed, data, each, seed=request.seed, effort=SHORT) for each in nodes]
    results = [job() for job in request.counted(jobs, "chains")]
    drops, rows = dict(zip(TARGETS, results[:3], strict=True)), results[3:]
    unit_edges = drops["flat"].unit_edges
    roles = edge_roles(unit_edges)
    targets = {name: _target(name, each, roles, centre) for name, each in drops.items()}
    sizes = {"nodes": graph.num_nodes, "edges": edges_of(graph), "dropped": edges_dropped(graph)}
    places = layout(unit_edges)
    free = at_least("no node lies on an edge of others: smallest gap", smallest_gap(places, unit_edges), GAP)
    return {
        "node": node,
        "settings": {"hops": HOPS, "message_hops": MESSAGE_HOPS, "node": RULE, **sizes},
        "claims": [*_claims(targets, drops, roles), *survey_claims(rows), free],
        "targets": targets,
        "survey": rows,
        "centre": centre,
        "places": places,
        "unit_edges": unit_edges.tolist(),
        "bridge": roles.bridge.astype(int).tolist(),
        "hub_bridge": roles.hub_bridge.astype(int).tolist(),
        "betweenness": roles.betweenness.tolist(),
    }


def _target(name: str, drops: Drops, roles: EdgeRoles, centre: int) -> Record:
    """The numbers of one target, and a typical draw as the sample to be shown."""
    shares = drops.dropped.double().mean(1).numpy()
    probability, (sample, left) = shares.mean(0), typical_draw(drops, centre)
    return {
        "strength": TARGETS[name][0],
        "spread": TARGETS[name][1],
        "ego_change": float(drops.ego_change.mean()),
        "nodes_left": float(np.mean(left)),
        "bridges": _mean(probability[roles.bridge]),
        "hub_bridges": _mean(probability[roles.hub_bridge]),
        "rank_correlation": rank_correlation(probability, roles),
        "exchanges": drops.exchanges,
        "drop_probability": probability.tolist(),
        # from chain to chain: they share nothing
        "standard_error": (shares.std(0, ddof=1) / math.sqrt(len(shares))).tolist(),
        "sample_dropped": sample.nonzero().squeeze(1).tolist(),
        "sample_reaches": within_reach(drops.unit_edges, (~sample).numpy(), centre, HOPS),
    }


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def _claims(targets: dict[str, Record], drops: dict[str, Drops], roles: EdgeRoles) -> list[Record]:
    weak, strong = targets["weak"], targets["strong"]
    counts = {int(count) for each in drops.values() for count in each.dropped.sum(-1).unique()}
    gain = strong["ego_change"] - weak["ego_change"]
    claims = [
        at_most("the number of dropped edges is the same in all draws: different numbers", len(counts), 1),
        at_least("the same number of edges changes ego-graphs more for μ = 1 than for μ = 0: difference", gain, 0.05),
        at_least(
            "more nodes stay within 3 hops of the centre for μ = 0 than for μ = 1: difference",
            weak["nodes_left"] - strong["nodes_left"],
            1.0,
        ),
        at_least(
            "edges on many shortest paths drop more for μ = 1: rank correlation", strong["rank_correlation"], 0.1
        ),
        at_most("and less for μ = 0: rank correlation", weak["rank_correlation"], -0.1),
        at_least(
            "σ = 1000: all edges drop alike: p-value of a chi-squared test", _uniform(drops["flat"]), FALSE_ALARM
        ),
    ]
    for name, words in (("hub_bridges", "bridges between hubs"), ("bridges", "all bridges")):
        if strong[name] is not None:
            more = strong[name] - weak[name]
            claims.insert(2, at_least(f"{words} drop more for μ = 1 than for μ = 0: difference", more, 0.1))
    return claims


def _uniform(drops: Drops) -> float:
    """Pearson's test that all edges drop alike.

    Given the count the states of two edges are negatively correlated, which makes Σ (n_e - N r)² / (N r (1 - r)) have
    the law of M / (M - 1) times chi-squared with M - 1 degrees of freedom.
    """
    draws = drops.dropped.flatten(0, 1).double()
    number, edges = draws.shape
    ratio = float(draws[0].mean())
    distance = float((draws.sum(0) - number * ratio).square().sum()) / (number * ratio * (1 - ratio))
    return float(chi2.sf(distance * (edges - 1) / edges, edges - 1))
