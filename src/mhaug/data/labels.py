"""Class labels as whole numbers: one form for every source, -1 where the class is not known."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mhaug.checks import RequestError, require

UNKNOWN = -1


def clean_labels(y: Any) -> Tensor:
    """Labels as a new long tensor [V]; NaN means unknown and becomes -1."""
    if y is None:
        raise RequestError("the graph has no labels: 'y' must be a tensor with one class number a node; got None")
    got = tuple(y.shape) if isinstance(y, Tensor) else type(y).__name__
    # OGB keeps labels as one column
    is_vector = isinstance(y, Tensor) and (y.dim() == 1 or (y.dim() == 2 and y.shape[1] == 1))
    require(is_vector, "y", "a tensor with one class number a node", got)
    flat = y.detach().reshape(-1)
    if not flat.is_floating_point():
        return flat.to(torch.long, copy=True)
    known = ~flat.isnan()
    fractional = known & (flat != flat.round())
    if bool(fractional.any()):
        raise RequestError(f"'y' must be whole numbers, or NaN where unknown; got {float(flat[fractional][0])}")
    return torch.where(known, flat, float(UNKNOWN)).to(torch.long)


def number_labels(words: Sequence[str]) -> tuple[Tensor, list[str] | None]:
    """Labels from text: the class numbers, and the class names where the words are not numbers.

    An empty word means unknown. If all words are whole numbers they are the class numbers; otherwise the words are
    numbered 0..C-1 in sorted order.
    """
    known = sorted({word for word in words if word})
    try:
        numbers = {word: int(word) for word in known}
        names = None
    except ValueError:
        numbers = {word: number for number, word in enumerate(known)}
        names = known
    return torch.tensor([numbers.get(word, UNKNOWN) for word in words], dtype=torch.long), names
