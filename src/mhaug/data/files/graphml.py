"""GraphML, as Gephi, igraph and networkx write it -> a PyG graph.

Node attributes `label` and `split` become labels and masks, all others are features; the edge attribute `weight`
becomes `edge_weight`, all others edge attributes. Whether edges have a direction is what the file says.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import torch

from mhaug.checks import RequestError, one_line
from mhaug.data.files.both_directions import Listed
from mhaug.data.files.tables import Row, build_graph

# networkx puts an edge's XML id among its attributes
NOT_ATTRIBUTES = ("id", "key")


def read_graphml(path: Path) -> Listed:
    """The graph of a GraphML file, its edges as listed."""
    source = _parse(path)
    node_default, edge_default = source.graph.get("node_default", {}), source.graph.get("edge_default", {})
    nodes = [Row({**node_default, **values}, f"{path}, node {name!r}") for name, values in source.nodes(data=True)]
    edges = [
        Row(_attributes({**edge_default, **values}), f"{path}, edge {start!r} to {end!r}")
        for start, end, values in source.edges(data=True)
    ]
    numbers = {name: number for number, name in enumerate(source)}
    pairs = [(numbers[start], numbers[end]) for start, end in source.edges()]
    ends = torch.tensor(pairs, dtype=torch.long).view(-1, 2).T.contiguous()
    graph = build_graph(list(numbers), nodes, ends, edges)
    return Listed(graph, one_way=not source.is_directed())


def _attributes(values: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if name not in NOT_ATTRIBUTES}


def _parse(path: Path) -> Any:
    import networkx

    try:
        return networkx.read_graphml(path)
    except (ParseError, networkx.NetworkXException, ValueError, KeyError, OSError) as error:
        raise RequestError(f"{path} must be a GraphML file; got {one_line(error)}") from None
