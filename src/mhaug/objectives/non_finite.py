"""What is raised where a loss is no number: by the training loop, and where a method trains a part before it."""

import math
from collections.abc import Mapping
from typing import Any


class NonFiniteLossError(RuntimeError):
    """Training met a loss or gradient that is NaN or infinite. `result` is what was reached before it."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


def not_finite(losses: Mapping[str, float]) -> str | None:
    """The first term of a loss that is not finite, in words; `total` is asked last."""
    terms = [name for name in losses if name != "total"]
    for name in [*terms, *(["total"] if "total" in losses else [])]:
        if not math.isfinite(losses[name]):
            return f"the term '{name}' of the loss is {losses[name]}"
    return None
