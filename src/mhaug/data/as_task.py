"""What users hand over as a graph with labels, as a task."""

from typing import Any

import torch
from torch import Tensor

from mhaug import checks
from mhaug.data.splits import Split
from mhaug.data.task import NodeTask


def as_task(data: Any, train_mask: Tensor | None, val_mask: Tensor | None) -> NodeTask:
    """A task of any kind of graph, with the masks passed where there are any; else with its own."""
    is_graph = isinstance(data, NodeTask) or (hasattr(data, "edge_index") and hasattr(data, "y"))
    checks.require(is_graph, "data", "a torch_geometric Data (homogeneous), or a NodeTask", type(data).__name__)
    if train_mask is None:
        checks.require(val_mask is None, "train_mask", "given where 'val_mask' is", None)
        return data if isinstance(data, NodeTask) else NodeTask.from_data(data)
    graph = data.graph if isinstance(data, NodeTask) else data
    labels = data.labels if isinstance(data, NodeTask) else data.y
    validation = torch.zeros_like(train_mask) if val_mask is None else val_mask
    rest = ~(train_mask | validation)
    if labels is not None:
        rest &= labels.reshape(-1) >= 0
    split = Split(train_mask, validation, rest)
    if isinstance(data, NodeTask):
        return NodeTask(graph, data.labels, split, data.num_classes, data.name)
    return NodeTask.from_data(data, split=split)


def truth(data: Any, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Labels, and the nodes that a score is taken on: `mask`, else the test nodes, else all with a label."""
    if isinstance(data, NodeTask):
        return data.labels.cpu(), (data.split.test if mask is None else mask).cpu()
    checks.require(getattr(data, "y", None) is not None, "data.y", "given: a score needs labels", None)
    labels = data.y.reshape(-1).cpu()
    if mask is None:
        mask = getattr(data, "test_mask", None)
    return labels, (labels >= 0 if mask is None else mask.cpu())
