"""A node classification task: a graph, the labels of its nodes, and which of them may be learned from."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from mhaug import checks
from mhaug.checks import RequestError, require
from mhaug.data.labels import UNKNOWN, clean_labels
from mhaug.data.memory_mapped import MemoryMapped
from mhaug.data.splits import Split, per_class_split, public_split

if TYPE_CHECKING:
    from torch_geometric.data import Data

__all__ = ["NodeTask", "Split"]

LABEL_FIELDS = ("y", "train_mask", "val_mask", "test_mask")


@dataclass(frozen=True, eq=False)
class NodeTask:
    """What a method is given. Checked once, here, so that nothing below has to check again.

    `graph` has features `x` (dense, torch sparse CSR, or `MemoryMapped`) and `edge_index`; `labels` are class
    numbers, -1 where unknown.
    """

    graph: Data
    labels: Tensor  # long [V]
    split: Split
    num_classes: int
    name: str = "graph"

    def __post_init__(self) -> None:
        _check_graph(self.graph)
        num_nodes = self.graph.x.shape[0]
        _check_labels(self.labels, num_nodes, self.num_classes)
        _check_split(self.split, self.labels)

    def __repr__(self) -> str:
        sizes = {part: int(getattr(self.split, part).sum()) for part in ("train", "validation", "test")}
        words = ", ".join(f"{part}={size}" for part, size in sizes.items())
        return f"NodeTask({self.name!r}, nodes={self.num_nodes}, classes={self.num_classes}, {words})"

    @property
    def num_nodes(self) -> int:
        """V, the number of nodes."""
        return len(self.labels)

    def to(self, device: torch.device | str) -> NodeTask:
        """The same task on another device; this one stays where it is."""
        # Data.to moves the object that it is called on
        graph = copy.copy(self.graph).to(device)
        return dataclasses.replace(self, graph=graph, labels=self.labels.to(device), split=self.split.to(device))

    @classmethod
    def from_data(
        cls,
        data: Data,
        *,
        split: Split | str | None = None,
        seed: int = 0,
        num_classes: int | None = None,
        name: str = "graph",
    ) -> NodeTask:
        """A task from a PyG graph with labels in `data.y`, which is left as it is.

        `split` is None for the masks in the graph, "random" for 20 training and 30 validation nodes a class drawn
        with `seed`, or a `Split`. Features are cast to torch's default float type, the one that layers are made
        with. The task's own graph carries neither labels nor masks: they have one place, in the task.
        """
        labels = clean_labels(data.y)
        if num_classes is None:
            num_classes = int(labels.max()) + 1 if len(labels) else 0
        return cls(_plain_graph(data), labels, _choose_split(data, labels, split, seed), num_classes, name)


def _choose_split(data: Data, labels: Tensor, split: Split | str | None, seed: int) -> Split:
    if isinstance(split, Split):
        return split
    if split is None:
        return public_split(data)
    require(split == "random", "split", "a Split, 'random', or None for the masks in the graph", split)
    return per_class_split(labels, seed=seed)


def _plain_graph(data: Data) -> Data:
    graph = copy.copy(data)
    for field in LABEL_FIELDS:
        if field in graph:
            del graph[field]
    if isinstance(graph.x, Tensor):
        graph.x = graph.x.to(torch.get_default_dtype())
    if isinstance(graph.x, MemoryMapped):
        graph.num_nodes = len(graph.x)  # PyG asks tensors only
    return graph


def _check_graph(graph: Any) -> None:
    x = graph.x
    if isinstance(x, MemoryMapped):  # its values are looked at when they are read
        checks.edge_index(graph.edge_index, "edge_index", len(x))
        return
    if not isinstance(x, Tensor):
        raise RequestError(f"the graph has no features: 'x' must be a tensor [nodes, features]; got {x!r}")
    is_matrix = x.dim() == 2 and x.is_floating_point() and x.layout in (torch.strided, torch.sparse_csr)
    got = f"{x.dtype}, {x.layout}, {tuple(x.shape)}"
    require(is_matrix, "x", "floats [nodes, features], dense or sparse CSR", got)
    # one NaN or infinity spoils a sum, and a sum is forty times as fast as looking at each value
    if not bool(x.sum().isfinite()):
        checks.finite(x, "x")
    checks.edge_index(graph.edge_index, "edge_index", x.shape[0])


def _check_labels(labels: Tensor, num_nodes: int, num_classes: int) -> None:
    checks.whole_number(num_classes, "num_classes", 2)
    checks.shape(labels, "labels", (num_nodes,))
    require(labels.dtype == torch.long, "labels", "a tensor of torch.int64", str(labels.dtype))
    wrong = (labels < UNKNOWN) | (labels >= num_classes)
    if bool(wrong.any()):
        value = int(labels[wrong][0])
        rule = f"class numbers in 0..{num_classes - 1}, or {UNKNOWN} where unknown"
        require(False, "labels", rule, value)


def _check_split(split: Split, labels: Tensor) -> None:
    for part in ("train", "validation", "test"):
        mask = getattr(split, part)
        checks.shape(mask, f"split.{part}", labels.shape)
        unknown = int((mask & (labels == UNKNOWN)).sum())
        rule = "made of nodes whose label is known"
        require(unknown == 0, f"split.{part}", rule, f"{unknown} nodes with label {UNKNOWN}")
