"""What the edges of a small graph are to its structure: bridges, edges between hubs, betweenness."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from torch import Tensor

if TYPE_CHECKING:
    from torch_geometric.data import Data

HUB = 4  # neighbours that make a node a hub


@dataclass(frozen=True)
class EdgeRoles:
    """One entry for each undirected edge."""

    bridge: np.ndarray  # bool: the only way between its two sides, and neither side is a single node
    hub_bridge: np.ndarray  # bool: a bridge whose ends are both hubs
    betweenness: np.ndarray  # share of all shortest paths that use the edge


def edge_roles(unit_edges: Tensor) -> EdgeRoles:
    """The roles of these edges, [2, M], each undirected pair listed once."""
    pairs = [tuple(pair) for pair in unit_edges.T.tolist()]
    graph = nx.Graph(pairs)
    bridges = {frozenset(pair) for pair in nx.bridges(graph)}
    between = {frozenset(pair): value for pair, value in nx.edge_betweenness_centrality(graph).items()}
    least = [min(graph.degree[one], graph.degree[other]) for one, other in pairs]
    bridge = np.array([frozenset(pair) in bridges and ends >= 2 for pair, ends in zip(pairs, least, strict=True)])
    return EdgeRoles(
        bridge,
        bridge & (np.array(least) >= HUB),
        np.array([between[frozenset(pair)] for pair in pairs]),
    )


def ego_graph(data: Any, node: int, hops: int) -> "tuple[Data, int]":
    """All within so many hops of a node, with all edges among them, as a graph of its own; and the node in it."""
    from torch_geometric.data import Data
    from torch_geometric.utils import k_hop_subgraph

    nodes, edges, centre, _ = k_hop_subgraph(
        node, hops, data.edge_index, relabel_nodes=True, num_nodes=data.num_nodes
    )
    return Data(edge_index=edges, num_nodes=len(nodes)), int(centre)


def within_reach(unit_edges: Tensor, kept: np.ndarray, centre: int, hops: int) -> list[int]:
    """Nodes that so many kept edges or fewer join to the centre."""
    graph = nx.Graph()
    graph.add_node(centre)
    graph.add_edges_from(unit_edges.T.numpy()[kept].tolist())
    return sorted(nx.single_source_shortest_path_length(graph, centre, cutoff=hops))
