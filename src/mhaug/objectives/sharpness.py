"""L_h of Eq. 8, and the entropy ε_i that the sampler reads: both from the entropy of the predictions."""

import math

import torch
from torch import Tensor

from mhaug.objectives.log_softmax import log_softmax


def sharpness_loss(logits: Tensor) -> Tensor:
    """L_h = (1/V) Σ_i H(f(G)_i) (Eq. 8): unconfident predictions cost."""
    return entropy(logits).mean(-1)


def entropy(logits: Tensor) -> Tensor:
    """H_i = -Σ_c p_ic log p_ic of each row, p = softmax(logits)."""
    log_p = log_softmax(logits)
    return -(log_p.exp() * log_p).sum(-1)


def normalised_entropy(logits: Tensor) -> Tensor:
    """ε_i = H_i / log C in [0, 1], without a gradient: how unsure the network is of node i. 0 for one class."""
    classes = logits.shape[-1]
    if classes == 1:
        return torch.zeros_like(logits[..., 0]).detach()
    return (entropy(logits.detach()) / math.log(classes)).clamp(0.0, 1.0)
