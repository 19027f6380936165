"""What a move is: a way to propose which units are kept next, with its exact probability."""

from typing import Protocol

from torch import Tensor


class Move(Protocol):
    """Proposes for one part (edges or nodes), for all chains at once. Knows nothing of the target."""

    def propose(self, kept: Tensor, uniforms: Tensor) -> Tensor:
        """Candidates [chains, units] for `kept` [chains, units], as uniform numbers [chains, ...] decide.

        A resample reads one for the count and a key a unit; a local move two, for the units that it chooses.
        """
        ...

    def log_prob(self, candidate: Tensor, *, given: Tensor) -> Tensor:
        """log of the probability that `propose` makes `candidate` out of `given`; a true mass, so it sums to one."""
        ...
