"""How a weight of the loss grows with the number of updates.

The number is a tensor that its owner counts up in place: where steps are replayed as one CUDA graph, Python's own
numbers stand still.
"""

import torch
from torch import Tensor


def linear_ramp(update: Tensor, start: int, end: int) -> Tensor:
    """0 up to update `start`, 1 from `end` on, a straight line between. Takes at least one update."""
    return ((update - start) / max(end - start, 1)).clamp(0.0, 1.0)


def sigmoid_ramp(update: Tensor, start: int, end: int) -> Tensor:
    """exp(-5 (1 - x)²), x the linear ramp: e⁻⁵ (not 0) up to `start`, then slowly, fast and slowly again to 1."""
    return torch.exp(-5.0 * (1.0 - linear_ramp(update, start, end)).square())
