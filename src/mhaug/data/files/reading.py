"""A path -> a PyG graph: finds the reader of the format and checks what came out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from mhaug import checks
from mhaug.checks import RequestError
from mhaug.data.files.both_directions import Listed, add_missing_reverses
from mhaug.data.files.csv_folder import read_csv_folder
from mhaug.data.files.graphml import read_graphml
from mhaug.data.files.npz import read_npz
from mhaug.data.files.npz_folder import GRAPH, read_npz_folder
from mhaug.data.files.pt import read_pt

if TYPE_CHECKING:
    from torch_geometric.data import Data


def _read_folder(folder: Path) -> Listed:
    return read_npz_folder(folder) if (folder / GRAPH).is_file() else read_csv_folder(folder)


# a folder has no suffix
FORMATS: dict[str, Callable[[Path], Listed]] = {
    ".npz": read_npz,
    ".graphml": read_graphml,
    ".pt": read_pt,
    "": _read_folder,
}


def read_graph(path: str | Path, *, directed: bool | None = None) -> Data:
    """The graph in a `.npz`, `.graphml` or `.pt` file, or in a folder: `edges.csv`, or `graph.npz` with `x.npy`.

    With `directed=True` the edges are taken as listed; with False every edge gets a partner in the opposite direction
    unless it has one. None means: False for CSV folders and for GraphML files that say "undirected", True otherwise.
    Self-loops, repeated edges and isolated nodes stay.
    """
    path = Path(path).expanduser()
    listed = _reader(path)(path)
    graph = _with_num_nodes(listed.graph)
    checks.edge_index(graph.edge_index, f"{path}: edge_index", int(graph.num_nodes))
    add_reverses = listed.one_way if directed is None else not directed
    return add_missing_reverses(graph) if add_reverses else graph


def _reader(path: Path) -> Callable[[Path], Listed]:
    if not path.exists():
        raise RequestError(f"'path' must be an existing file or folder; got {str(path)!r}")
    suffix = "" if path.is_dir() else path.suffix.lower() or path.name
    if suffix not in FORMATS:
        allowed = ", ".join(filter(None, FORMATS))
        folders = f"a folder with edges.csv or {GRAPH}"
        raise RequestError(f"{path} must end in one of {allowed}, or be {folders}; got {suffix!r}")
    return FORMATS[suffix]


def _with_num_nodes(graph: Data) -> Data:
    """The graph with its number of nodes where PyG would have to guess it from the edges."""
    if graph.x is None and "num_nodes" not in graph:
        if isinstance(graph.y, Tensor):
            graph.num_nodes = len(graph.y)
        else:
            graph.num_nodes = int(graph.edge_index.max()) + 1 if graph.edge_index.numel() else 0
    return graph
