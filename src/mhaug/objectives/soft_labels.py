"""Binary cross-entropy against soft labels: each class is a yes-or-no question of its own (GraphMix)."""

import torch
from torch import Tensor

from mhaug.objectives.log_softmax import log_softmax


def soft_label_loss(logits: Tensor, targets: Tensor, counted: Tensor) -> Tensor:
    """Mean over nodes and classes of -t log p - (1 - t) log(1 - p), p = softmax(logits), t `targets` [..., N, C].

    Only rows that are `counted`, bool [..., N], enter the mean. About 1/C of a cross-entropy in size.
    """
    log_p, log_others = log_softmax(logits), _log_of_others(logits)
    surprise = -(targets * log_p + (1.0 - targets) * log_others).mean(-1)
    return surprise.where(counted, 0.0).sum(-1) / counted.sum(-1)


def _log_of_others(logits: Tensor) -> Tensor:
    """log(1 - p_c) = log Σ_{j≠c} exp z_j - log Σ_j exp z_j: finite where p_c rounds to 1, and so is its gradient."""
    classes = logits.shape[-1]
    itself = torch.eye(classes, dtype=torch.bool, device=logits.device)
    # a finite floor, not -inf: with one class there is no other, and (1 - t) times it must be 0
    floor = torch.finfo(logits.dtype).min / 2
    others = logits.unsqueeze(-2).masked_fill(itself, floor).logsumexp(-1)
    return others - logits.logsumexp(-1, keepdim=True)
