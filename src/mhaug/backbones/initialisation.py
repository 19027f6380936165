"""Initial parameters, drawn from an explicit generator. The laws are those of PyG's layers."""

import math

import torch
from torch import Tensor


@torch.no_grad()
def uniform(parameter: Tensor, bound: float, rng: torch.Generator | None) -> None:
    """Uniform on [-bound, bound]."""
    # Drawn where the generator lives, so that a seed gives the same weights on every device.
    device = torch.device("cpu") if rng is None else rng.device
    draws = torch.empty(parameter.shape, dtype=parameter.dtype, device=device)
    parameter.copy_(draws.uniform_(-bound, bound, generator=rng))


def glorot(parameter: Tensor, rng: torch.Generator | None) -> None:
    """Glorot and Bengio's uniform law: bound √(6 / (rows + columns))."""
    uniform(parameter, math.sqrt(6.0 / (parameter.shape[-2] + parameter.shape[-1])), rng)


def fan_in(parameter: Tensor, inputs: int, rng: torch.Generator | None) -> None:
    """The law of `torch.nn.Linear`, for weight and bias: bound 1 / √inputs."""
    uniform(parameter, 1.0 / math.sqrt(inputs), rng)
