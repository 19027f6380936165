"""Figure 3's claim about bridges, on many ego-graphs of the dataset: one that is shown proves little."""

from typing import Any

import numpy as np

from mhaug.experiments.figures.edge_roles import edge_roles, ego_graph
from mhaug.experiments.figures.ego_choice import typical_draw
from mhaug.experiments.figures.ego_targets import HOPS, drops_under, edges_of, rank_correlation
from mhaug.experiments.figures.fixed_count import Effort
from mhaug.experiments.figures.request import Record, at_least
from mhaug.rng import ordering

SIZES = (40, 70)  # nodes: enough to have a structure, few enough to sample


def nodes_to_survey(data: Any, *, seed: int, count: int, but: int) -> list[int]:
    """The first so many nodes, in random order, whose ego-graph has a fitting size and a bridge between hubs."""
    found: list[int] = []
    for node in ordering(seed, "ego-graphs", size=data.num_nodes).tolist():
        if len(found) == count:
            break
        graph, _ = ego_graph(data, node, HOPS)
        if SIZES[0] <= graph.num_nodes <= SIZES[1] and node != but:
            pairs = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]].cpu()
            if edge_roles(pairs).hub_bridge.any():
                found.append(node)
    return found


def surveyed(data: Any, node: int, *, seed: int, effort: Effort) -> Record:
    """Bridges and correlation on one ego-graph, for μ = 0 and μ = 1."""
    graph, centre = ego_graph(data, node, HOPS)
    row: Record = {"node": node, "nodes": graph.num_nodes, "edges": edges_of(graph)}
    for name in ("weak", "strong"):
        drops = drops_under(name, graph, seed=seed, effort=effort)
        roles = edge_roles(drops.unit_edges)
        probability = drops.dropped.double().mean((0, 1)).numpy()
        row[f"bridges_{name}"] = float(probability[roles.bridge].mean())
        row[f"hub_bridges_{name}"] = float(probability[roles.hub_bridge].mean())
        row[f"nodes_left_{name}"] = float(np.mean(typical_draw(drops, centre)[1]))
        row[f"rank_correlation_{name}"] = rank_correlation(probability, roles)
    return row


def survey_claims(rows: list[Record]) -> list[Record]:
    """What the text says, as means over the ego-graphs."""
    if not rows:
        return []
    gains = {
        name: float(np.mean([row[f"{name}_strong"] - row[f"{name}_weak"] for row in rows]))
        for name in ("hub_bridges", "bridges")
    }
    larger = np.mean([row["rank_correlation_strong"] > row["rank_correlation_weak"] for row in rows])
    # of the centre's reach the target says nothing, and there are ego-graphs where it is the other way round
    farther = np.mean([row["nodes_left_weak"] > row["nodes_left_strong"] for row in rows])
    words = f"over {len(rows)} other ego-graphs"
    return [
        at_least(f"{words}: bridges between hubs drop more for μ = 1: mean difference", gains["hub_bridges"], 0.1),
        at_least(f"{words}: all bridges drop more for μ = 1: mean difference", gains["bridges"], 0.1),
        at_least(f"{words}: the rank correlation is larger for μ = 1: share of them", float(larger), 0.9),
        at_least(f"{words}: more nodes stay within {HOPS} hops for μ = 0: share of them", float(farther), 0.75),
    ]
