"""A NumPy `.npz` file -> a PyG graph; never opens a pickle.

| part | keys |
| --- | --- |
| edges, required | `edge_index` [2, E], or the sparse matrix `adj_data adj_indices adj_indptr adj_shape` |
| features | `x` or `attr_matrix` [V, F], or the sparse matrix `attr_data attr_indices attr_indptr attr_shape` |
| labels | `y` or `labels` [V], whole numbers (-1 unknown) or text (empty unknown) |
| others | `num_nodes`, `edge_attr`, `edge_weight`, `train_mask`, `val_mask`, `test_mask` |

The second form of each is that of the Amazon and Coauthor benchmark files; the values of a sparse `adj` become
`edge_weight` unless all are 1.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from mhaug.checks import RequestError, one_line
from mhaug.data.files.both_directions import Listed
from mhaug.data.labels import number_labels

if TYPE_CHECKING:
    from torch_geometric.data import Data

SPARSE_PARTS = ("data", "indices", "indptr", "shape")
DENSE_KEYS = ("edge_index", "x", "attr_matrix", "y", "labels", "num_nodes")
OTHER_KEYS = ("edge_attr", "edge_weight", "train_mask", "val_mask", "test_mask")
KEYS = (*DENSE_KEYS, *OTHER_KEYS, *(f"{name}_{part}" for name in ("adj", "attr") for part in SPARSE_PARTS))

Arrays = dict[str, np.ndarray[Any, Any]]


def read_npz(path: Path) -> Listed:
    """The graph of an npz file, its edges as listed."""
    arrays = _open(path)
    try:
        return Listed(_build(arrays), one_way=False)
    except (ValueError, TypeError, IndexError) as error:
        raise RequestError(f"{path} must hold the arrays of one graph; got {one_line(error)}") from None


def _open(path: Path) -> Arrays:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in KEYS if key in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, AttributeError, zlib.error) as error:
        raise RequestError(f"{path} must be an npz file of plain arrays; got {_instead(path, error)}") from None
    if "edge_index" not in arrays and not has_sparse(arrays, "adj"):
        got = ", ".join(arrays) or "none of the known keys"
        raise RequestError(f"{path} must have the key edge_index, or adj_data with its companions; got {got}")
    return arrays


def _instead(path: Path, error: Exception) -> str:
    """In our own words: NumPy's advice is to open pickles, which would run what is in them."""
    if isinstance(error, OSError) and error.strerror:
        return f"a file that cannot be read ({error.strerror})"
    if not zipfile.is_zipfile(path):
        return "another kind of file"
    holds_objects = isinstance(error, ValueError) and "allow_pickle" in str(error)
    return "one with an array of Python objects" if holds_objects else "a damaged one"


def _build(arrays: Arrays) -> Data:
    from torch_geometric.data import Data

    graph = Data(**_edges(arrays))
    features = _features(arrays)
    if features is not None:
        graph.x = features
    labels = arrays.get("y", arrays.get("labels"))
    if labels is not None and labels.dtype.kind in "US":
        graph.y, graph.class_names = number_labels([word.strip() for word in labels.astype(str)])
    elif labels is not None:
        graph.y = torch.from_numpy(labels)
    for key in OTHER_KEYS:
        if key in arrays:
            graph[key] = torch.from_numpy(arrays[key])
    if "num_nodes" in arrays:
        graph.num_nodes = int(arrays["num_nodes"])
    return graph


def _edges(arrays: Arrays) -> dict[str, Tensor]:
    if "edge_index" in arrays:
        index = torch.from_numpy(arrays["edge_index"])
        return {"edge_index": index if index.is_floating_point() else index.to(torch.long)}
    matrix = sparse_matrix(arrays, "adj").tocoo()
    fields = {"edge_index": torch.from_numpy(np.stack([matrix.row, matrix.col])).to(torch.long)}
    if bool((matrix.data != 1).any()):
        fields["edge_weight"] = torch.from_numpy(matrix.data).to(torch.float32)
    return fields


def _features(arrays: Arrays) -> Tensor | None:
    dense = arrays.get("x", arrays.get("attr_matrix"))
    if dense is None and has_sparse(arrays, "attr"):
        dense = sparse_matrix(arrays, "attr").toarray()
    return None if dense is None else torch.from_numpy(dense).to(torch.float32)


def has_sparse(arrays: Arrays, name: str) -> bool:
    """Whether the four arrays of a sparse matrix are all there."""
    return all(f"{name}_{part}" in arrays for part in SPARSE_PARTS)


def sparse_matrix(arrays: Arrays, name: str) -> Any:
    """A scipy CSR matrix from its four arrays."""
    from scipy.sparse import csr_matrix

    data, indices, indptr, shape = (arrays[f"{name}_{part}"] for part in SPARSE_PARTS)
    return csr_matrix((data, indices, indptr), shape=tuple(shape))
