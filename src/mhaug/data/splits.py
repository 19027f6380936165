"""Which nodes are for training, validation and testing: the published masks, or a draw of some nodes a class."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from mhaug import checks
from mhaug.checks import RequestError, require
from mhaug.data.labels import clean_labels
from mhaug.rng import ordering

if TYPE_CHECKING:
    from torch_geometric.data import Data


# eq=False: tensors have no single truth value to compare by
@dataclass(frozen=True, eq=False)
class Split:
    """Three sets of nodes as masks; no node is in two of them, and some may be in none."""

    train: Tensor  # bool [V]
    validation: Tensor  # bool [V]
    test: Tensor  # bool [V]

    def __post_init__(self) -> None:
        masks = {"train": self.train, "validation": self.validation, "test": self.test}
        for name, mask in masks.items():
            _check_mask(mask, name)
            checks.shape(mask, name, self.train.shape)
        for one, other in combinations(masks, 2):
            shared = int((masks[one] & masks[other]).sum())
            if shared:
                raise RequestError(f"'{one}' and '{other}' must not overlap; got {shared} nodes that are in both")
        require(bool(self.train.any()), "train", "a mask with at least one node", "an empty mask")

    def to(self, device: torch.device | str) -> Split:
        """The same split on another device."""
        return Split(self.train.to(device), self.validation.to(device), self.test.to(device))


def public_split(data: Data) -> Split:
    """The split that the graph carries as `train_mask`, `val_mask`, `test_mask`.

    Without `val_mask` the validation set is empty; without `test_mask` the test set is every other node whose label
    is known.
    """
    train, validation, test = (getattr(data, f"{part}_mask", None) for part in ("train", "val", "test"))
    if train is None:
        raise RequestError(
            "the graph has no 'train_mask': split must be 'random' (--split random), a Split, or masks in the graph; "
            "got neither"
        )
    for name, mask in {"train_mask": train, "val_mask": validation, "test_mask": test}.items():
        if mask is not None:
            _check_mask(mask, name)
            checks.shape(mask, name, _one_a_node(data, train))
    if validation is None:
        validation = torch.zeros_like(train)
    if test is None:
        test = (clean_labels(data.y) >= 0) & ~train & ~validation
    return Split(train, validation, test)


def _one_a_node(data: Data, otherwise: Tensor) -> tuple[int, ...]:
    """The shape of a mask, by features or labels: the first mask may be the wrong one."""
    known = [part for part in (data.x, data.y) if part is not None]
    return (known[0].shape[0],) if known else tuple(otherwise.shape)


def per_class_split(labels: Tensor, *, train: int = 20, validation: int = 30, seed: int = 0) -> Split:
    """So many training and validation nodes of each class, drawn at random; the others are for testing.

    Nodes of unknown label are in no set. The same seed gives the same split on every machine.
    """
    checks.whole_number(train, "train", 1)
    checks.whole_number(validation, "validation", 0)
    labels = clean_labels(labels)
    counts = torch.bincount(labels[labels >= 0])
    require(len(counts) > 0, "labels", "known for at least one node", "no known label")
    order = ordering(seed, "split", size=len(labels)).to(labels.device)
    chosen_train, chosen_validation = torch.zeros(2, len(labels), dtype=torch.bool, device=labels.device)
    for number, count in enumerate(counts.tolist()):
        _check_class(number, count, train, validation)
        members = order[labels[order] == number]
        chosen_train[members[:train]] = True
        chosen_validation[members[train : train + validation]] = True
    return Split(chosen_train, chosen_validation, (labels >= 0) & ~chosen_train & ~chosen_validation)


def _check_class(number: int, count: int, train: int, validation: int) -> None:
    if count == 0:
        raise RequestError(f"classes must be numbered 0, 1, 2, ... without gaps; got no node of class {number}")
    needed = train + validation + 1
    if count < needed:
        raise RequestError(
            f"class {number} must have at least {needed} nodes ({train} to train on, {validation} to validate on, "
            f"1 to test on); got {count}"
        )


def _check_mask(mask: Any, name: str) -> None:
    is_mask = isinstance(mask, Tensor) and mask.dtype == torch.bool
    got = f"a tensor of {mask.dtype}" if isinstance(mask, Tensor) else type(mask).__name__
    require(is_mask, name, "a tensor of torch.bool", got)
    rule = f"one mask [nodes]; of several splits in columns choose one, such as {name}[:, 0]"
    require(mask.dim() == 1, name, rule, tuple(mask.shape))
