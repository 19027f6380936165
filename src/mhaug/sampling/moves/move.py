"""What a move is: a way to propose which units are kept next, with its exact probability."""

from typing import Protocol

from torch import Tensor

from mhaug.rng import Streams


class Move(Protocol):
    """Proposes for one part (edges or nodes), for all chains at once. Knows nothing of the target."""

    def draw(self, kept: Tensor, *, rng: Streams) -> Tensor:
        """Candidates [chains, units] for the current `kept` [chains, units]."""
        ...

    def log_prob(self, candidate: Tensor, *, given: Tensor) -> Tensor:
        """log of the probability that `draw` makes `candidate` out of `given`; a true mass, so it sums to one."""
        ...
