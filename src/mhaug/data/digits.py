"""scikit-learn's handwritten digits as a graph of similar images: a real task that needs no download."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from mhaug import checks

if TYPE_CHECKING:
    from torch_geometric.data import Data

BRIGHTEST = 16


def digits_graph(neighbours: int = 5) -> Data:
    """1797 images of 8 x 8 pixels, each joined to its most similar ones by cosine (union of both directions).

    Pixels are scaled to [0, 1] by one constant: they share one scale already, and rows that sum to 1 would make every
    input about 1/64 and blur the difference between thin and thick strokes.
    """
    checks.whole_number(neighbours, "neighbours", 1)
    from sklearn.datasets import load_digits
    from torch_geometric.data import Data
    from torch_geometric.utils import to_undirected

    images, digits = load_digits(return_X_y=True)
    checks.require(neighbours < len(images), "neighbours", f"below {len(images)}", neighbours)
    nearest = torch.from_numpy(_nearest(images, neighbours))
    nodes = torch.arange(len(images)).repeat_interleave(neighbours)
    edge_index = to_undirected(torch.stack([nodes, nearest.reshape(-1)]), num_nodes=len(images))
    x = torch.from_numpy(images / BRIGHTEST).to(torch.float32)
    return Data(x=x, edge_index=edge_index, y=torch.from_numpy(digits).to(torch.long))


def _nearest(images: np.ndarray[Any, Any], neighbours: int) -> np.ndarray[Any, Any]:
    """The rows of largest cosine to each row, ties to the lower number; the same on every machine.

    Pixels are whole numbers of at least 0, so products are exact, and for one row the cosine sorts as
    product² / norm², which takes a single rounding.
    """
    products = images @ images.T
    scores = products**2 / np.diag(products)
    np.fill_diagonal(scores, -1.0)
    return np.argsort(-scores, axis=1, kind="stable")[:, :neighbours].copy()
