"""Which ego-graph Figure 3 shows, and which of many samples: by rules that do not look at what is to be shown."""

from typing import Any

import numpy as np
from torch import Tensor

from mhaug.checks import RequestError
from mhaug.experiments.figures.edge_roles import edge_roles, ego_graph, within_reach
from mhaug.experiments.figures.ego_drawing import GAP, crossings, layout, smallest_gap
from mhaug.experiments.figures.ego_targets import HOPS
from mhaug.experiments.figures.fixed_count import Drops

SIZES = (30, 60)  # nodes: enough to have a structure, few enough to be read
NEIGHBOURS = 3  # of the centre: one edge is not all that holds it
SEARCHED = 3000  # nodes: of a large graph only the first ones
LOOKED_AT = 400  # draws, evenly spaced, among which the typical one is found
RULE = (
    f"of the nodes with {NEIGHBOURS} neighbours or more, an ego-graph of {SIZES[0]} to {SIZES[1]} nodes and a bridge "
    f"between hubs, with a drawing where no node is nearer than {GAP:g} of its width to an edge that is not its own: "
    "the clearest drawing, which is that of fewest crossings, then of the widest such gap"
)


def shown_node(data: Any) -> int:
    """The node that `RULE` names."""
    degrees = np.bincount(data.edge_index[0].cpu().numpy(), minlength=data.num_nodes)
    found = []
    for node in np.flatnonzero(degrees[:SEARCHED] >= NEIGHBOURS).tolist():
        graph, _ = ego_graph(data, node, HOPS)
        if not SIZES[0] <= graph.num_nodes <= SIZES[1]:
            continue
        pairs = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]].cpu()
        if not edge_roles(pairs).hub_bridge.any():
            continue
        places = layout(pairs)
        if (gap := smallest_gap(places, pairs)) >= GAP:
            found.append((crossings(places, pairs), -gap, node))
    if not found:
        raise RequestError("node must be given (--node): no ego-graph of this graph is fit to be drawn")
    return min(found)[-1]


def typical_draw(drops: Drops, centre: int) -> tuple[Tensor, list[int]]:
    """The draw that leaves as many nodes within reach as the median one, the first of them; nodes left by each."""
    draws = drops.dropped.flatten(0, 1)
    looked_at = draws[:: max(1, len(draws) // LOOKED_AT)]
    left = [len(within_reach(drops.unit_edges, (~draw).numpy(), centre, HOPS)) for draw in looked_at]
    return looked_at[left.index(sorted(left)[len(left) // 2])], left
