"""Which ego-graph Figure 3 shows, and which of many samples: by rules that do not look at what is to be shown."""

from itertools import combinations
from typing import Any

import numpy as np
from torch import Tensor

from mhaug.checks import RequestError
from mhaug.experiments.figures.edge_roles import edge_roles, ego_graph, layout, within_reach
from mhaug.experiments.figures.ego_targets import HOPS
from mhaug.experiments.figures.fixed_count import Drops

SIZES = (30, 60)  # nodes: enough to have a structure, few enough to be read
NEIGHBOURS = 3  # of the centre: one edge is not all that holds it
GAP = 0.02  # from a node to an edge that is not its own, as a share of the drawing's width
SEARCHED = 3000  # nodes: of a large graph only the first ones
LOOKED_AT = 400  # draws, evenly spaced, among which the typical one is found
RULE = (
    f"of the nodes with {NEIGHBOURS} neighbours or more, an ego-graph of {SIZES[0]} to {SIZES[1]} nodes and a bridge "
    f"between hubs, with a drawing where no node is nearer than {GAP:g} of its width to an edge that is not its own: "
    "the one with fewest crossings, then the first"
)


def shown_node(data: Any) -> int:
    """The node that `RULE` names."""
    degrees = np.bincount(data.edge_index[0].cpu().numpy(), minlength=data.num_nodes)
    found = []
    for node in np.flatnonzero(degrees[:SEARCHED] >= NEIGHBOURS).tolist():
        graph, _ = ego_graph(data, node, HOPS)
        if not SIZES[0] <= graph.num_nodes <= SIZES[1]:
            continue
        pairs = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]].cpu()
        if edge_roles(pairs).hub_bridge.any() and smallest_gap(places := layout(pairs), pairs) >= GAP:
            found.append((crossings(places, pairs), node))
    if not found:
        raise RequestError("node must be given (--node): no ego-graph of this graph is fit to be drawn")
    return min(found)[1]


def crossings(places: list[list[float]], unit_edges: Tensor) -> int:
    """Pairs of edges without a common end that cross in the drawing."""
    at = np.array(places)
    pairs = unit_edges.T.tolist()
    return sum(
        _cross(at[list(one)], at[list(other)]) for one, other in combinations(pairs, 2) if not set(one) & set(other)
    )


def _cross(one: np.ndarray, other: np.ndarray) -> bool:
    """Each segment has the ends of the other on both its sides."""
    return all(_side(line, point[0]) * _side(line, point[1]) < 0 for line, point in ((one, other), (other, one)))


def _side(line: np.ndarray, point: np.ndarray) -> float:
    (along_x, along_y), (x, y) = line[1] - line[0], point - line[0]
    return float(along_x * y - along_y * x)


def smallest_gap(places: list[list[float]], unit_edges: Tensor) -> float:
    """The distance between an edge and a node that is no end of it, where it is smallest."""
    at, gaps = np.array(places), []
    for pair in unit_edges.T.tolist():
        others = np.delete(at, pair, axis=0) - at[pair[0]]
        line = at[pair[1]] - at[pair[0]]
        share = (others @ line / (line @ line)).clip(0, 1)
        gaps.append(np.linalg.norm(others - share[:, None] * line, axis=1).min())
    return float(min(gaps))


def typical_draw(drops: Drops, centre: int) -> tuple[Tensor, list[int]]:
    """The draw that leaves as many nodes within reach as the median one, the first of them; nodes left by each."""
    draws = drops.dropped.flatten(0, 1)
    looked_at = draws[:: max(1, len(draws) // LOOKED_AT)]
    left = [len(within_reach(drops.unit_edges, (~draw).numpy(), centre, HOPS)) for draw in looked_at]
    return looked_at[left.index(sorted(left)[len(left) // 2])], left
