"""Accuracy and macro-F1 of one pass, on all three sets at once."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug.data.task import NodeTask


@dataclass(frozen=True)
class Scores:
    """Shares of nodes told right, in [0, 1]; NaN for an empty set."""

    train: float
    validation: float
    test: float


def accuracies(logits: Tensor, task: NodeTask) -> Scores:
    """The three accuracies, with one wait for the device."""
    right = (logits.argmax(-1) == task.labels).double()
    masks = torch.stack([task.split.train, task.split.validation, task.split.test]).double()
    return Scores(*((masks @ right) / masks.sum(1)).tolist())


def validation_loss(logits: Tensor, task: NodeTask) -> float:
    """Mean cross-entropy on the validation nodes; NaN where there are none."""
    nodes = task.split.validation
    return float(torch.nn.functional.cross_entropy(logits[nodes], task.labels[nodes]))


def macro_f1(logits: Tensor, labels: Tensor, nodes: Tensor) -> float:
    """Mean over the classes of 2 TP / (2 TP + FP + FN), on `nodes` (bool); a class that never occurs is left out."""
    classes = logits.shape[-1]
    predicted, true = logits.argmax(-1)[nodes], labels[nodes]
    pairs = torch.bincount(true * classes + predicted, minlength=classes * classes).view(classes, classes).double()
    found, expected, given = pairs.diagonal(), pairs.sum(1), pairs.sum(0)
    occurs = (expected + given) > 0
    return float((2 * found / (expected + given).clamp(min=1))[occurs].mean())
