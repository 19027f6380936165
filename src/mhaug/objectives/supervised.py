"""L_s: cross-entropy on the labelled nodes."""

import torch
from torch import Tensor

from mhaug import checks
from mhaug.objectives.log_softmax import log_softmax


def supervised_loss(logits: Tensor, labels: Tensor, nodes: Tensor) -> Tensor:
    """L_s = mean of -log softmax(z_i)[y_i] over `nodes`: a bool mask [..., V] or node numbers.

    Leading axes of `logits` [..., V, C] are replicas, each with a loss of its own. That the mask is not empty is for
    whoever made it to check: asking here would make the GPU wait.
    """
    if nodes.dtype != torch.bool:
        checks.require(nodes.numel() > 0, "nodes", "not empty", tuple(nodes.shape))
        logits, labels = logits[..., nodes, :], labels[..., nodes]
        nodes = torch.ones_like(labels, dtype=torch.bool)
    checks.shape(nodes[(0,) * (nodes.dim() - 1)], "nodes", (logits.shape[-2],))
    # The other nodes count as 0, which keeps shapes fixed; indexing by a mask would wait for the GPU.
    known = labels.clamp(min=0).expand(logits.shape[:-1]).unsqueeze(-1)
    surprise = -log_softmax(logits).gather(-1, known).squeeze(-1)
    return surprise.where(nodes, 0.0).sum(-1) / nodes.sum(-1)
