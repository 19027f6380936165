"""Nodes -> parts of about equal size with few edges between them: METIS, or stretches of a breadth-first order."""

import warnings

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from torch import Tensor

from mhaug import checks
from mhaug.sampling.subgraph import UnitGraph

HEAVY = 64  # how much dearer a cut through a region to be avoided is


def node_parts(graph: UnitGraph, parts: int, *, avoid: Tensor | None = None) -> Tensor:
    """The part of each node, long [V]. Cuts keep away from the nodes of `avoid` (bool [V]) where they can.

    Needs `pymetis` (the extra `large`); without it parts are stretches of a breadth-first order, with longer cuts.
    """
    checks.whole_number(parts, "parts", 1)
    rule = f"at most the number of nodes ({graph.num_nodes})"
    checks.require(parts <= max(graph.num_nodes, 1), "parts", rule, parts)
    if parts == 1:
        return torch.zeros(graph.num_nodes, dtype=torch.long)
    both_ways = _adjacency(graph)
    found = _metis(both_ways, parts, avoid)
    if found is None:
        found = _stretches(both_ways, parts, shifted=avoid is not None)
    return torch.from_numpy(found).long()


def islands(graph: UnitGraph, nodes: Tensor) -> Tensor:
    """Connected pieces of the subgraph on `nodes` (bool [V]): their numbers, and -1 elsewhere, long [V]."""
    ends = graph.unit_edges.cpu()
    inside = nodes[ends[0]] & nodes[ends[1]]
    _, number = connected_components(_matrix(ends[:, inside].numpy(), graph.num_nodes), directed=False)
    return torch.where(nodes, torch.from_numpy(number).long(), -1)


def _adjacency(graph: UnitGraph) -> csr_array:
    """Each pair of neighbours once in either direction, without self-loops."""
    one_way = _matrix(graph.unit_edges.cpu().numpy(), graph.num_nodes)
    both_ways = csr_array(one_way + one_way.T)
    both_ways.sum_duplicates()
    return both_ways


def _matrix(ends: np.ndarray, nodes: int) -> csr_array:
    return csr_array((np.ones(ends.shape[1], dtype=np.int8), (ends[0], ends[1])), shape=(nodes, nodes))


def _metis(both_ways: csr_array, parts: int, avoid: Tensor | None) -> np.ndarray | None:
    """METIS; None where it is not installed."""
    try:
        import pymetis
    except ImportError:
        warnings.warn(
            "pymetis is not installed (pip install mhaug[large]): partitions have longer cuts",
            RuntimeWarning,
            stacklevel=3,
        )
        return None
    pointers, neighbours = both_ways.indptr.astype(np.int64), both_ways.indices.astype(np.int64)
    weights = None
    if avoid is not None:
        dear = avoid.cpu().numpy()
        source = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
        weights = np.where(dear[source] & dear[neighbours], HEAVY, 1)
    _, found = pymetis.part_graph(parts, pymetis.CSRAdjacency(pointers, neighbours), eweights=weights)
    return np.asarray(found, dtype=np.int64)


def _stretches(both_ways: csr_array, parts: int, *, shifted: bool) -> np.ndarray:
    """Equal stretches of a breadth-first order; `shifted` by half a stretch, so that the cuts fall elsewhere."""
    nodes = both_ways.shape[0]
    place = np.empty(nodes, dtype=np.int64)
    place[_breadth_first(both_ways)] = np.arange(nodes)
    start = nodes // (2 * parts) if shifted else 0
    return (place + start) % nodes * parts // nodes


def _breadth_first(both_ways: csr_array) -> np.ndarray:
    """All nodes, component by component, each in breadth-first order from its first node."""
    nodes = both_ways.shape[0]
    component = connected_components(both_ways, directed=False)[1]
    first = np.unique(component, return_index=True)[1]
    # one search for all: from a further node, with an edge to the first node of each component
    pointers = np.append(both_ways.indptr, both_ways.indptr[-1] + len(first))
    columns = np.concatenate([both_ways.indices, first])
    started = csr_array((np.ones(len(columns), dtype=np.int8), columns, pointers), shape=(nodes + 1, nodes + 1))
    order = breadth_first_order(started, nodes, return_predecessors=False)[1:]
    return order[np.argsort(component[order], kind="stable")]
