"""A running mean of the weights, which is evaluated and kept in their place: steadier than any single update."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

COUNT, DECAY = "count", "decay"  # beside the means, by the names of their parameters


def share_of_newest(decay: float | Tensor, count: float | Tensor) -> float | Tensor:
    """What the newest of `count` weights gets in Σ_s β^(t-s) θ_s / Σ_s β^(t-s): (1 - β) / (1 - β^t).

    All of the first; with β = 0 all of each.
    """
    return (1.0 - decay) / (1.0 - decay**count)


class WeightAveraging:
    """θ̄_t = Σ_s β^(t-s) θ_s / Σ_s β^(t-s) over the updates so far: about the last 1 / (1 - β) of them count.

    With β = 0 the weights themselves, and nothing is copied. What is no parameter (a graph that the model keeps) is
    never averaged.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._parameters = dict(model.named_parameters()) if decay > 0.0 else {}
        self._decay, self._count = decay, 0
        self._means = {name: torch.zeros_like(value) for name, value in self._parameters.items()}

    @torch.no_grad()
    def update(self, *, fresh: bool = False) -> None:
        """Take in the weights as they are now; with `fresh` they have nothing to do with earlier ones."""
        self._count = 1 if fresh else self._count + 1
        share = share_of_newest(self._decay, self._count)
        for name, value in self._parameters.items():
            self._means[name].lerp_(value, share)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """For a while the model has the mean weights."""
        own = self._swap(self._means)
        try:
            yield
        finally:
            self._swap(own)

    def state_dict(self) -> dict[str, Tensor]:
        """The means, of how many updates, and β; nothing where none are taken."""
        if not self._parameters:
            return {}
        return {
            **self._means,
            COUNT: torch.tensor(self._count),
            DECAY: torch.tensor(self._decay, dtype=torch.float64),
        }

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there. Means that were taken in another way are none to go on from."""
        theirs, mine = (float(saved[DECAY]) if saved else 0.0), (self._decay if self._parameters else 0.0)
        if theirs != mine:
            raise ValueError(f"weight_averaging {theirs:g} there, {mine:g} here")
        if self._parameters:
            self._count = int(saved[COUNT])
            for name, mean in self._means.items():
                mean.copy_(saved[name])

    @torch.no_grad()
    def _swap(self, weights: dict[str, Tensor]) -> dict[str, Tensor]:
        before = {name: value.detach().clone() for name, value in self._parameters.items()}
        for name, value in self._parameters.items():
            value.copy_(weights[name])
        return before
