"""Graphs small enough to draw every batch of, with all that is awkward: loops, repeats, a hub, a node alone."""

import torch
from torch_geometric.data import Data

from mhaug.minibatch import InEdges


def awkward_graph(features: int = 6, seed: int = 0) -> Data:
    """Thirty nodes: a hub that everyone sends to, repeated columns, self-loops, and a node that none sends to."""
    rng = torch.Generator().manual_seed(seed)
    random = torch.randint(1, 29, (2, 90), generator=rng)
    hub = torch.stack([torch.arange(1, 29), torch.zeros(28, dtype=torch.long)])
    back = hub.flip(0)
    again = torch.cat([random[:, :5], torch.tensor([[3, 4], [3, 4]])], 1)
    away = torch.tensor([[29], [1]])
    edge_index = torch.cat([random, random.flip(0), hub, back, again, away], 1)
    return Data(x=torch.randn(30, features, generator=rng), edge_index=edge_index, num_nodes=30)


def stars(copies: int, leaves: int) -> InEdges:
    """Nodes 0..copies-1 are each sent to by leaves of their own: leaf r of node i is copies + i·leaves + r."""
    centres = torch.arange(copies).repeat_interleave(leaves)
    sources = copies + torch.arange(copies * leaves)
    return InEdges.of(torch.stack([sources, centres]), copies * (leaves + 1))


def repeated(data: Data, copies: int) -> Data:
    """The same graph many times, as one graph of many components: one batch then is many independent draws."""
    shift = data.num_nodes * torch.arange(copies).repeat_interleave(data.edge_index.shape[1])
    edge_index = data.edge_index.repeat(1, copies) + shift
    return Data(x=data.x.repeat(copies, 1), edge_index=edge_index, num_nodes=copies * data.num_nodes)
