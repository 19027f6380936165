"""Eq. 5: messages received in k hops, and the change ratio of each node's ego-graph."""

import torch
from torch import Tensor

from mhaug import checks
from mhaug.sampling.subgraph import UnitGraph

# Above this, a whole number of messages no longer fits a double exactly.
LARGEST_EXACT = 2**53


def messages_received(
    graph: UnitGraph, hops: int, *, edge_kept: Tensor | None = None, node_kept: Tensor | None = None
) -> Tensor:
    """Ã'^k m: how many messages reach each node in k hops. Whole numbers, [..., V].

    Ã = A + I has exactly one self-connection a node, whether or not the graph brings self-loops of its own; a
    repeated edge carries one message for each repeat. `edge_kept` [..., M] thins Ã, `node_kept` [..., V] is m.
    """
    checks.whole_number(hops, "hops", 1)
    source, target, unit = graph.messages
    sent = graph.unit_edges.new_ones(graph.num_nodes) if node_kept is None else node_kept.long()
    if edge_kept is not None:
        sent = sent.expand(*edge_kept.shape[:-1], graph.num_nodes)
    for _ in range(hops):
        arriving = sent[..., source]
        if edge_kept is not None:
            arriving = arriving * edge_kept[..., unit]
        sent = sent.index_add(-1, target, arriving)
    return sent


def messages_of_whole_graph(graph: UnitGraph, hops: int) -> Tensor:
    """Ã^k 1, after a check that the numbers stay exact."""
    source, target, _ = graph.messages
    size = torch.ones(graph.num_nodes, dtype=torch.float64, device=source.device)
    for _ in range(hops):
        size = size.index_add(-1, target, size[source])
    largest = float(size.max()) if graph.num_nodes else 1.0
    rule = f"small enough that no node receives more than 2^53 messages on this graph ({hops=} gives {largest:.1e})"
    checks.require(largest <= LARGEST_EXACT, "hops", rule, hops)
    return messages_received(graph, hops)


def ego_change(received: Tensor, original: Tensor) -> Tensor:
    """Δ_i = 1 - received_i / original_i, in [0, 1]."""
    return 1.0 - received.double() / original.double()
