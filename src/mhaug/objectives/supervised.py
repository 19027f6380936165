"""L_s: cross-entropy on the labelled nodes."""

import torch
from torch import Tensor
from torch.nn import functional as F

from mhaug import checks

_IGNORED = -100


def supervised_loss(logits: Tensor, labels: Tensor, nodes: Tensor) -> Tensor:
    """L_s = mean of -log softmax(z_i)[y_i] over `nodes`: a bool mask [V] or node numbers.

    That the mask is not empty is for whoever made it to check: asking here would make the GPU wait.
    """
    if nodes.dtype == torch.bool:
        checks.shape(nodes, "nodes", (logits.shape[0],))
        # Ignoring the other labels keeps shapes fixed; indexing by a mask would wait for the GPU.
        return F.cross_entropy(logits, labels.where(nodes, _IGNORED), ignore_index=_IGNORED)
    checks.require(nodes.numel() > 0, "nodes", "not empty", tuple(nodes.shape))
    return F.cross_entropy(logits[nodes], labels[nodes])
