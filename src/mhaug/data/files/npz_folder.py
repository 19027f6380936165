"""A folder with `graph.npz` and `x.npy` -> a PyG graph whose features stay in their file.

`graph.npz` is as in `npz.py`, without features; `x.npy` holds them, [nodes, features], of any number type. For graphs
that are trained in batches: only the rows of a batch are ever read.
"""

from pathlib import Path

from mhaug import checks
from mhaug.data.files.both_directions import Listed
from mhaug.data.files.npz import read_npz
from mhaug.data.memory_mapped import MemoryMapped

GRAPH, FEATURES = "graph.npz", "x.npy"


def read_npz_folder(folder: Path) -> Listed:
    """The graph of a folder, its edges as listed."""
    listed, features = read_npz(folder / GRAPH), MemoryMapped(folder / FEATURES)
    graph = listed.graph
    checks.require(graph.x is None, f"{folder / GRAPH}", f"without features, which {FEATURES} holds", "features")
    nodes = graph.num_nodes if "num_nodes" in graph else None if graph.y is None else len(graph.y)
    rule = f"of a row for each of the {nodes} nodes in {GRAPH}"
    checks.require(nodes in (None, len(features)), f"{folder / FEATURES}", rule, len(features))
    # PyG asks tensors only for the number of nodes
    graph.x, graph.num_nodes = features, len(features)
    return listed
