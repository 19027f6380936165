"""Graphs small enough to enumerate, one of each kind that the sampler must get right."""

import torch

from mhaug.sampling.subgraph import UnitGraph

EDGES = {
    "triangle-with-tail": ([(0, 1), (1, 2), (0, 2), (2, 3)], 4, False),
    "star": ([(0, 1), (0, 2), (0, 3)], 4, False),
    "isolated-node": ([(0, 1), (1, 2)], 4, False),
    "self-loop-and-repeat": ([(0, 1), (0, 1), (1, 2), (2, 2)], 3, False),
    "directed": ([(0, 1), (1, 2), (2, 0), (0, 2), (2, 3)], 4, True),
    "one-edge": ([(0, 1)], 2, False),
    "no-edges": ([], 2, False),
}


def tiny_graph(name: str) -> UnitGraph:
    pairs, nodes, directed = EDGES[name]
    edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    if not directed:
        edge_index = torch.cat([edge_index, edge_index.flip(0)], 1)
    return UnitGraph.from_edge_index(edge_index, nodes, directed=directed)
