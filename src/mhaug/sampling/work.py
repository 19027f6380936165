"""How much work a resample is, counted in local moves: what a mixture needs to know to divide its time.

Counted from the graph and never clocked, so that the same seed gives the same chain on every machine.
"""

from mhaug.sampling.ego_change import messages_received
from mhaug.sampling.subgraph import UnitGraph

# A local move costs about as much as eight nodes looked at, and one more for each that it touches; a resample looks
# at every column once a hop, ten times as fast because in order (benchmarks/sampler.py).
FIXED, IN_ORDER = 8.0, 0.1


def resample_work(graph: UnitGraph, hops: int, part: str) -> float:
    """Local moves that cost as much as one resample; at least 1."""
    columns = graph.messages.shape[1]
    return max(1.0, IN_ORDER * hops * columns / (FIXED + _touched(graph, hops, part)))


def _touched(graph: UnitGraph, hops: int, part: str) -> float:
    """Nodes that the flip of one unit touches on average, by counting walks; no level has more than all nodes."""
    total = 0.0
    for level in range(1, hops + (part == "nodes")):
        reach = messages_received(graph, level).double().clamp(max=graph.num_nodes)
        if part == "edges":
            reach = reach[graph.unit_edges].sum(0)
        total += float(reach.mean()) if reach.numel() else 0.0
    return total
