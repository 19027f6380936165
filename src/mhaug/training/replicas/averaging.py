"""Running means of the weights for R networks at once, of which only those that learn move."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from mhaug.per_replica import PerReplica, aligned
from mhaug.training.averaging import share_of_newest


class ReplicaAveraging:
    """`training/averaging.py` row by row. No tensor is ever replaced, so that a step can be captured."""

    def __init__(self, weights: Tensor, decay: PerReplica) -> None:
        self._weights, self._own = weights, torch.empty_like(weights)
        decay = aligned(decay, 1)
        # 1 - β^t in single precision is off by a part in a thousand where β is near 1
        self._decay = decay.double() if isinstance(decay, Tensor) else decay
        counts = torch.zeros(weights.shape[0], 1, dtype=torch.float64, device=weights.device)
        self.state = {"weights": torch.zeros_like(weights), "count": counts}

    @torch.no_grad()
    def update(self, learns: Tensor) -> None:
        """Take in the weights of the replicas that learnt, bool [R]."""
        learns = learns.unsqueeze(1)
        self.state["count"].add_(learns)
        share = share_of_newest(self._decay, self.state["count"].clamp(min=1.0))
        self.state["weights"].lerp_(self._weights, torch.where(learns, share, 0.0).to(self._weights.dtype))

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """For a while all networks have their mean weights."""
        with torch.no_grad():
            self._own.copy_(self._weights)
            self._weights.copy_(self.state["weights"])
        try:
            yield
        finally:
            with torch.no_grad():
                self._weights.copy_(self._own)
