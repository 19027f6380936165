"""Where the nodes of a small graph are drawn, and how clear such a drawing is."""

from itertools import combinations

import networkx as nx
import numpy as np
from torch import Tensor

GAP = 0.02  # from a node to an edge that is not its own, as a share of the drawing's width

Places = list[list[float]]


def layout(unit_edges: Tensor) -> Places:
    """Places of all nodes, in [0, 1] x [0, height], where distances are close to numbers of steps (Kamada and Kawai).

    The search for it begins on a circle, and where it ends hangs on the order there. Three orders are tried, and the
    clearest drawing is taken. There is no chance in it. The longer axis lies flat.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(int(unit_edges.max()) + 1))
    graph.add_edges_from(sorted(map(sorted, unit_edges.T.tolist())))
    orders = [list(graph), list(nx.dfs_preorder_nodes(graph, 0)), [0, *(node for _, node in nx.bfs_edges(graph, 0))]]
    return min((_from_circle(graph, order) for order in orders), key=lambda places: _unclear(places, unit_edges))


def _unclear(places: Places, unit_edges: Tensor) -> tuple[bool, int, float]:
    gap = smallest_gap(places, unit_edges)
    return gap < GAP, crossings(places, unit_edges), -gap


def _from_circle(graph: nx.Graph, order: list[int]) -> Places:
    turns = np.linspace(0, 2 * np.pi, len(order), endpoint=False)
    start = dict(zip(order, np.stack([np.cos(turns), np.sin(turns)], 1), strict=True))
    found = nx.kamada_kawai_layout(graph, pos=start)
    places = np.array([found[node] for node in sorted(found)])
    turned = (places - places.mean(0)) @ np.linalg.svd(places - places.mean(0))[2].T
    low, high = turned.min(0), turned.max(0)
    return ((turned - low) / (high - low)[0]).tolist()


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
