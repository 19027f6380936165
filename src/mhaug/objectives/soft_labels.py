"""Binary cross-entropy against soft labels: each class is a yes-or-no question of its own (GraphMix)."""

import torch
from torch import Tensor

from mhaug.objectives.log_softmax import log_softmax


def soft_label_loss(logits: Tensor, targets: Tensor, counted: Tensor) -> Tensor:
    """Mean over nodes and classes of -t log p - (1 - t) log(1 - p), p = softmax(logits), t `targets` [..., N, C].

    Only rows that are `counted`, bool [..., N], enter the mean. About 1/C of a cross-entropy in size.
    """
    log_p = log_softmax(logits)
    log_others = _log_of_others(logits, log_p)
    surprise = -(targets * log_p + (1.0 - targets) * log_others).mean(-1)
    return surprise.where(counted, 0.0).sum(-1) / counted.sum(-1)


def _log_of_others(logits: Tensor, log_p: Tensor) -> Tensor:
    """log(1 - p_c), finite where p_c rounds to 1, and so is its gradient. Nothing larger than `logits` is made.

    Of the likeliest class it is log Σ_{j≠c} exp z_j - log Σ_j exp z_j; all others have p_c ≤ ½, where log1p is exact.
    """
    place = logits.detach().argmax(-1, keepdim=True)
    likeliest = torch.zeros_like(logits, dtype=torch.bool).scatter_(-1, place, True)
    # a finite floor, not -inf: with one class there is no other, and (1 - t) times it must be 0
    others = logits.masked_fill(likeliest, torch.finfo(logits.dtype).min / 2).logsumexp(-1, keepdim=True)
    rest = others - logits.logsumexp(-1, keepdim=True)
    # at p_c = 1 log1p has an infinite slope, which `where` would turn into NaN
    return rest.where(likeliest, torch.log1p(-log_p.exp().masked_fill(likeliest, 0.0)))
