"""Adam for R networks at once, of which only those that learn move."""

import torch
from torch import Tensor, nn

from mhaug.per_replica import PerReplica, aligned

BETAS, EPSILON = (0.9, 0.999), 1e-8


class ReplicaAdam:
    """`torch.optim.Adam` row by row, on all parameters as one tensor [R, P] that the model's own are views of.

    A replica that does not learn keeps its weights, its moments and its count of updates.
    """

    def __init__(self, model: nn.Module, *, learning_rate: PerReplica, weight_decay: PerReplica) -> None:
        self._parameters = list(model.parameters())
        self.weights = torch.cat([parameter.detach().flatten(1) for parameter in self._parameters], 1)
        sizes = [parameter[0].numel() for parameter in self._parameters]
        for parameter, part in zip(self._parameters, self.weights.split(sizes, 1), strict=True):
            parameter.data = part.unflatten(1, parameter.shape[1:])
        self._rate, self._decay = aligned(learning_rate, 1), aligned(weight_decay, 1)
        self.state = {
            "mean": torch.zeros_like(self.weights),
            "square": torch.zeros_like(self.weights),
            "updates": torch.zeros_like(self.weights[:, :1]),
        }

    def gradient(self, losses: Tensor) -> Tensor:
        """Of each replica's own loss, [R, P]: no replica's loss depends on another's weights."""
        gradients = torch.autograd.grad(losses.sum(), self._parameters, allow_unused=True, materialize_grads=True)
        return torch.cat([gradient.flatten(1) for gradient in gradients], 1)

    @torch.no_grad()
    def step(self, gradient: Tensor, learns: Tensor) -> None:
        """One update of the replicas that learn, bool [R]."""
        learns = learns.unsqueeze(1)
        # a replica that is left out may have a gradient that is not finite
        gradient = (gradient + self._decay * self.weights).where(learns, 0.0)
        first, second = ((1.0 - beta) * learns for beta in BETAS)
        mean, square, updates = self.state.values()
        mean.lerp_(gradient, first)
        square.lerp_(gradient.square(), second)
        updates.add_(learns)
        count = updates.clamp(min=1.0)
        size = square.sqrt() / (1.0 - BETAS[1] ** count).sqrt() + EPSILON
        pace = self._rate * learns / (1.0 - BETAS[0] ** count)
        self.weights.addcmul_(mean / size, pace, value=-1.0)
