"""Random numbers of a method that learns at every step, and its steps: alike for one run and for replicas."""

import math

import torch
from torch import Tensor

from mhaug.methods.method import Problem, Step
from mhaug.objectives.objective import Losses
from mhaug.rng import SharedStream, Streams


class Draws:
    """A stream of its own for one run; torch's global generator for replicas, as a CUDA graph wants it."""

    def __init__(self, problem: Problem, replicas: int | None, seed: int, role: str) -> None:
        device = problem.labels.device
        self._everyone = None if replicas is None else torch.ones(replicas, dtype=torch.bool, device=device)
        self._rng: Streams | SharedStream
        self._common: Streams | SharedStream
        if replicas is None:
            self._rng = self._common = Streams(seed, role, count=1, device=device)
        else:
            self._rng, self._common = SharedStream(replicas, device), SharedStream(1, device)

    def uniform(self, size: int) -> Tensor:
        """Numbers in [0, 1), [size] or [R, size], in double precision."""
        numbers = self._rng.uniform(size)
        return numbers if self._everyone is not None else numbers[0]

    def by_node(self, nodes: int, *width: int) -> Tensor:
        """As many as that for each node, as values lie in the layers: [V, ...], or [V, R, ...] for replicas."""
        shape = (nodes, *width)
        numbers = self._rng.uniform(math.prod(shape)).unflatten(1, shape)
        return numbers[0] if self._everyone is None else numbers.movedim(0, 1)

    def common(self, size: int) -> Tensor:
        """[size], the same numbers for all replicas."""
        return self._common.uniform(size)[0]

    def word(self) -> int | None:
        """What a dropout mask can be made of; None for replicas, whose masks come from torch's global generator."""
        return None if self._everyone is not None else int(self.uniform(1) * 2**53)

    def step(self, losses: Losses) -> Step:
        """A step that everyone learns from."""
        if self._everyone is None:
            return Step(losses)
        return Step(losses, 1, self._everyone, learns=self._everyone)

    def state(self) -> Tensor:
        """Where the stream stands."""
        return self._rng.state()

    def restore(self, state: Tensor) -> None:
        """Go on from there."""
        self._rng.restore(state)
