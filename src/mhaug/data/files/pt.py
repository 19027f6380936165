"""A file written by `torch.save` -> a PyG graph: a `Data` object, or a dict of tensors with its field names."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from mhaug.checks import RequestError
from mhaug.data.files.both_directions import Listed


def read_pt(path: Path) -> Listed:
    """The graph of a pt file, its edges as listed."""
    from torch_geometric.data import Data

    content = _open(path)
    if isinstance(content, dict) and all(isinstance(key, str) for key in content):
        content = Data(**content)
    if not isinstance(content, Data):
        raise RequestError(f"{path} must hold a PyG Data or a dict of tensors; got a {type(content).__name__}")
    if content.edge_index is None:
        raise RequestError(f"{path} must have the key edge_index; got {', '.join(content.keys()) or 'no key'}")
    return Listed(content, one_way=False)


def _open(path: Path) -> Any:
    """The content, opened with `weights_only=True`, so that nothing in the file is run."""
    import torch
    from torch_geometric.data import Data
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import GlobalStorage

    # what a pickled Data is made of; PyG itself allows only a part of it
    parts: list[Any] = [Data, DataEdgeAttr, DataTensorAttr, GlobalStorage]
    try:
        with torch.serialization.safe_globals(parts):
            return torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, OSError, ValueError) as error:
        rule = "hold a PyG Data or a dict of tensors, and nothing that needs code to open"
        reason = type(error).__name__
        raise RequestError(f"{path} must {rule}; got a file that torch refuses ({reason})") from None
