"""From a subgraph to a view, and from a view to an ordinary `Data` with the edges removed."""

from copy import copy
from typing import TYPE_CHECKING

import torch

from mhaug.data.view import View, node_scale
from mhaug.sampling.subgraph import Subgraph, UnitGraph

if TYPE_CHECKING:
    from torch_geometric.data import Data


def view_of(graph: UnitGraph, subgraph: Subgraph, chain: int) -> View:
    """What a model sees of one chain's state. Both directions of an undirected pair go together."""
    node_kept = subgraph.node_kept[chain]
    return View(
        edge_kept=graph.column_kept(subgraph.edge_kept[chain]),
        node_scale=None if bool(node_kept.all()) else node_scale(node_kept),
    )


def apply_view(data: "Data", view: View) -> "Data":
    """A shallow copy of `data` without the dropped edges; all that is aligned with the edges stays aligned."""
    # which attributes follow the edges is asked of the original: afterwards the lengths no longer tell
    along_edges = [key for key in data.keys() if data.is_edge_attr(key)]  # noqa: SIM118 (Data is no dict)
    changed = copy(data)
    changed.num_nodes = data.num_nodes
    if view.edge_kept is not None:
        for key in along_edges:
            value = data[key]
            if isinstance(value, torch.Tensor):
                changed[key] = value.index_select(data.__cat_dim__(key, value), view.edge_kept.nonzero().squeeze(1))
    if view.node_scale is not None and data.x is not None:
        changed.x = data.x * view.node_scale.to(data.x.dtype).unsqueeze(-1)
    return changed
