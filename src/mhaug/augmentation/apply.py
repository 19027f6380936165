"""From a subgraph to a view, and from a view to an ordinary `Data` with the edges removed."""

from copy import copy
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from mhaug.data.view import View, node_scale
from mhaug.sampling.subgraph import Subgraph, column_kept

if TYPE_CHECKING:
    from torch_geometric.data import Data


def view_of(unit_of_column: Tensor, subgraph: Subgraph, chain: int) -> View:
    """What a model sees of one chain's state, where `unit_of_column` [E] is (see `UnitGraph`).

    Both directions of an undirected pair go together.
    """
    node_kept = subgraph.node_kept[chain].to(unit_of_column.device)
    return View(
        edge_kept=column_kept(unit_of_column, subgraph.edge_kept[chain]),
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
