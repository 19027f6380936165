"""Logits of all nodes from all their neighbours, a part of the graph at a time."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
from torch import Tensor

from mhaug.backbones.backbone import Backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.layer_stack import Layer, LayerStack
from mhaug.distributed.world import World
from mhaug.minibatch.in_edges import InEdges
from mhaug.minibatch.inward import inward
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.minibatch.neighbours import ALL, NeighbourSampler

PART = 2**21  # columns that are mixed at a time
ROWS = 2**16  # rows that are multiplied at a time

RowsOf = Callable[[Tensor], Tensor]  # nodes -> what a layer makes of them


@torch.no_grad()
def infer(network: Backbone, graph: LargeGraph, hops: int, *, world: World | None = None) -> Tensor:
    """Logits [V, C] in evaluation mode, those of one pass over the whole graph.

    Layer by layer: each layer needs the rows of one hop only, however deep the network. A user's own module cannot
    be taken apart, and is given the neighbourhoods of `hops` hops, or of as many as its layers are seen to look; and
    of one more, so that layers which count neighbours (GCN) find those of the outermost nodes too.

    With several ranks in `world`, which must have the same weights, each computes some of the rows of each layer.
    """
    network.eval()
    if isinstance(network, LayerStack):
        return _by_layers(network, graph, world or World.alone())
    sampler, logits = NeighbourSampler(graph.edges, [ALL] * (max(hops, network.hops or 0) + 1)), []
    for nodes in parts(graph.edges, PART // 8):
        batch = sampler.sample(nodes)
        view = graph.cut(graph.whole, batch, received=network.reads_received)
        logits.append(network(graph.graph_input(batch, graph.rows(batch.n_id)), view)[: len(nodes)])
    return torch.cat(logits)


def _by_layers(network: LayerStack, graph: LargeGraph, world: World) -> Tensor:
    layers = [layer for layer in network.layers if isinstance(layer, Layer)]
    columns = min(PART, (graph.num_nodes + graph.edge_index.shape[1]) // world.size + 1)
    pieces = list(parts(graph.edges, columns))
    everyone = torch.arange(graph.num_nodes, device=graph.edges.device)
    rows = everyone.split(min(ROWS, -(-graph.num_nodes // world.size)))
    sampler, hidden = NeighbourSampler(graph.edges, [ALL]), None
    for number, layer in enumerate(layers):
        transformed = _put_together(partial(_transformed, layer, graph, hidden), rows, graph.num_nodes, world)
        hidden = None  # it is not needed beside its successor
        mix = partial(_mixed, network, layer, graph, sampler, transformed, last=number == len(layers) - 1)
        hidden = _put_together(mix, pieces, graph.num_nodes, world)
    assert hidden is not None
    return hidden


def _put_together(rows_of: RowsOf, pieces: Sequence[Tensor], num_nodes: int, world: World) -> Tensor:
    """The rows of all nodes, piece by piece; pieces are dealt out to the ranks where there are enough of them."""
    here = world if len(pieces) >= world.size else World.alone()
    whole: Tensor | None = None
    for nodes in pieces[here.rank :: here.size]:
        rows = rows_of(nodes)
        if whole is None:
            shape = (num_nodes, rows.shape[1])
            whole = rows.new_empty(shape) if here.size == 1 else rows.new_zeros(shape)
        whole[nodes] = rows
    assert whole is not None
    # a row is that of one rank, and 0 on the others
    return here.total(whole)


def _transformed(layer: Layer, graph: LargeGraph, hidden: Tensor | None, nodes: Tensor) -> Tensor:
    """The first half of a layer: of the features, or of what the layer before gave."""
    return layer.transform(graph.rows(nodes) if hidden is None else hidden[nodes])


def _mixed(
    network: LayerStack,
    layer: Layer,
    graph: LargeGraph,
    sampler: NeighbourSampler,
    transformed: Tensor,
    nodes: Tensor,
    *,
    last: bool,
) -> Tensor:
    """The second half, over all that arrives at these nodes."""
    batch = sampler.sample(nodes)
    rows = transformed.index_select(0, batch.n_id)
    view = graph.cut(graph.whole, batch, received=network.reads_received)
    connections = inward(batch, len(nodes) if network.gives_first_rows else batch.num_nodes)
    edges = network.edge_values(GraphInput(rows, batch.edge_index, connections), view)
    mixed = layer(edges, rows)[: len(nodes)]
    return mixed if last else mixed.relu()


def parts(edges: InEdges, size: int) -> Iterator[Tensor]:
    """All nodes in a row, cut where about `size` columns arrive; a node with more is a part of its own."""
    last = torch.arange(edges.num_nodes, device=edges.device)
    part = (edges.pointers[:-1] + last) // size
    yield from last.split(torch.unique_consecutive(part, return_counts=True)[1].tolist())
