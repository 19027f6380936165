"""Adam for R networks at once, of which only those that learn move."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from mhaug.objectives.objective import Losses
from mhaug.per_replica import PerReplica, aligned

BETAS, EPSILON = (0.9, 0.999), 1e-8


class ReplicaAdam:
    """`torch.optim.Adam` row by row, on all parameters as one tensor [R, P] that the model's own are views of.

    A replica that does not learn keeps its weights, its moments and its counts of updates; so does a parameter that
    the loss of its replica does not reach, as one without a gradient does in torch's.
    """

    def __init__(self, model: nn.Module, *, learning_rate: PerReplica, weight_decay: PerReplica) -> None:
        self._parameters = list(model.parameters())
        self.weights = torch.cat([parameter.detach().flatten(1) for parameter in self._parameters], 1)
        sizes = [parameter[0].numel() for parameter in self._parameters]
        for parameter, part in zip(self._parameters, self.weights.split(sizes, 1), strict=True):
            parameter.data = part.unflatten(1, parameter.shape[1:])
        owners = torch.arange(len(sizes)).repeat_interleave(torch.tensor(sizes))
        self._owner = owners.to(self.weights.device)  # which parameter each column belongs to
        self._rate, self._decay = aligned(learning_rate, 1), aligned(weight_decay, 1)
        self.state = {
            "mean": torch.zeros_like(self.weights),
            "square": torch.zeros_like(self.weights),
            "updates": self.weights.new_zeros(self.weights.shape[0], len(sizes)),
        }

    def gradient(self, losses: Losses) -> tuple[Tensor, Tensor | None]:
        """Of each replica's own loss, [R, P], and which parameters it reaches, bool [R, parameters]; None: all.

        No replica's loss depends on another's weights.
        """
        parts = [loss.where(mine, 0.0) for loss, mine in losses.choices] or [losses.total]
        found = [
            # choices may have the first product in common
            torch.autograd.grad(loss.sum(), self._parameters, allow_unused=True, retain_graph=loss is not parts[-1])
            for loss in parts
        ]
        by_parameter = list(zip(*found, strict=True))
        rows = [_added(each, parameter) for each, parameter in zip(by_parameter, self._parameters, strict=True)]
        everywhere = all(gradient is not None for each in by_parameter for gradient in each)
        flat = torch.cat([row.flatten(1) for row in rows], 1)
        return flat, None if everywhere else torch.stack([_reached(each, losses) for each in by_parameter], 1)

    @torch.no_grad()
    def step(self, gradient: Tensor, learns: Tensor, reached: Tensor | None = None) -> None:
        """One update of the replicas that learn, bool [R], in the parameters that are reached."""
        learns = learns.unsqueeze(1) if reached is None else learns.unsqueeze(1) & reached
        moves = learns if reached is None else self._by_column(learns)
        # a replica that is left out may have a gradient that is not finite
        gradient = (gradient + self._decay * self.weights).where(moves, 0.0)
        first, second = ((1.0 - beta) * moves for beta in BETAS)
        mean, square, updates = self.state.values()
        mean.lerp_(gradient, first)
        square.lerp_(gradient.square(), second)
        updates.add_(learns)
        count = updates.clamp(min=1.0)
        size = square.sqrt() / self._by_column((1.0 - BETAS[1] ** count).sqrt()) + EPSILON
        pace = self._rate * learns / (1.0 - BETAS[0] ** count)
        self.weights.addcmul_(mean / size, self._by_column(pace), value=-1.0)

    def _by_column(self, values: Tensor) -> Tensor:
        """[R, parameters] -> [R, P]."""
        return values.index_select(1, self._owner)


def _added(gradients: Sequence[Tensor | None], parameter: Tensor) -> Tensor:
    present = [gradient for gradient in gradients if gradient is not None]
    return sum(present[1:], present[0]) if present else torch.zeros_like(parameter)


def _reached(gradients: Sequence[Tensor | None], losses: Losses) -> Tensor:
    """Who has learnt from a loss with a gradient, bool [R]."""
    nobody = torch.zeros_like(losses.total, dtype=torch.bool)
    if not losses.choices:
        return nobody if gradients[0] is None else ~nobody
    for gradient, (_, mine) in zip(gradients, losses.choices, strict=True):
        nobody = nobody if gradient is None else nobody | mine
    return nobody
