"""Logits of all nodes from all their neighbours, a part of the graph at a time."""

from collections.abc import Iterator

import torch
from torch import Tensor

from mhaug.backbones.backbone import Backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.layer_stack import Layer, LayerStack
from mhaug.minibatch.in_edges import InEdges
from mhaug.minibatch.inward import inward
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.minibatch.neighbours import ALL, NeighbourSampler

PART = 2**21  # columns that are mixed at a time
ROWS = 2**16  # rows that are multiplied at a time


@torch.no_grad()
def infer(network: Backbone, graph: LargeGraph, hops: int) -> Tensor:
    """Logits [V, C] in evaluation mode, those of one pass over the whole graph.

    Layer by layer: each layer needs the rows of one hop only, however deep the network. A user's own module cannot
    be taken apart, and is given the neighbourhoods of `hops` hops, or of as many as its layers are seen to look; and
    of one more, so that layers which count neighbours (GCN) find those of the outermost nodes too.
    """
    network.eval()
    if isinstance(network, LayerStack):
        return _by_layers(network, graph)
    sampler, logits = NeighbourSampler(graph.edges, [ALL] * (max(hops, network.hops or 0) + 1)), []
    for nodes in parts(graph.edges, PART // 8):
        batch = sampler.sample(nodes)
        view = graph.cut(graph.whole, batch, received=network.reads_received)
        logits.append(network(graph.graph_input(batch, graph.rows(batch.n_id)), view)[: len(nodes)])
    return torch.cat(logits)


def _by_layers(network: LayerStack, graph: LargeGraph) -> Tensor:
    sampler = NeighbourSampler(graph.edges, [ALL])
    layers = [layer for layer in network.layers if isinstance(layer, Layer)]
    hidden: Tensor | None = None
    for number, layer in enumerate(layers):
        transformed = _transformed(layer, graph, hidden)
        hidden = None  # it is not needed beside its successor
        for nodes in parts(graph.edges, PART):
            batch = sampler.sample(nodes)
            rows = transformed.index_select(0, batch.n_id)
            view = graph.cut(graph.whole, batch, received=network.reads_received)
            connections = inward(batch, len(nodes) if network.gives_first_rows else batch.num_nodes)
            edges = network.edge_values(GraphInput(rows, batch.edge_index, connections), view)
            mixed = layer(edges, rows)[: len(nodes)]
            if hidden is None:
                hidden = mixed.new_empty(graph.num_nodes, mixed.shape[1])
            hidden[nodes] = mixed if number == len(layers) - 1 else mixed.relu()
    assert hidden is not None
    return hidden


def _transformed(layer: Layer, graph: LargeGraph, hidden: Tensor | None) -> Tensor:
    """The first half of a layer on all nodes: of the features, or of what the layer before gave."""
    whole: Tensor | None = None
    for nodes in torch.arange(graph.num_nodes, device=graph.edges.device).split(ROWS):
        rows = layer.transform(graph.rows(nodes) if hidden is None else hidden[nodes])
        if whole is None:
            whole = rows.new_empty(graph.num_nodes, rows.shape[1])
        whole[nodes] = rows
    assert whole is not None
    return whole


def parts(edges: InEdges, size: int) -> Iterator[Tensor]:
    """All nodes in a row, cut where about `size` columns arrive; a node with more is a part of its own."""
    last = torch.arange(edges.num_nodes, device=edges.device)
    part = (edges.pointers[:-1] + last) // size
    yield from last.split(torch.unique_consecutive(part, return_counts=True)[1].tolist())
