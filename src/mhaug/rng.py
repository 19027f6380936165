"""Seed -> named random streams. The only file that turns seeds into generators.

A stream is found from the seed and the words of its role, never from the order in which streams are asked for:
`stream(0, "chain", 2)` is the same stream in a run of three chains and in a run of thirty.
"""

import zlib

import numpy as np
import torch

from mhaug import checks

Role = str | int


def _sequence(seed: int, role: tuple[Role, ...]) -> np.random.SeedSequence:
    checks.whole_number(seed, "seed", 0)
    # crc32 gives a word the same number on every machine; Python's own hash is salted.
    words = tuple(zlib.crc32(part.encode()) if isinstance(part, str) else part for part in role)
    return np.random.SeedSequence(seed, spawn_key=words)


def stream(seed: int, *role: Role, device: torch.device | str = "cpu") -> torch.Generator:
    """The random stream of one role, such as `stream(0, "chain", 2)`."""
    word = int(_sequence(seed, role).generate_state(1, np.uint64)[0])
    # torch seeds are signed 64-bit numbers
    return torch.Generator(device=device).manual_seed(word >> 1)


def ordering(seed: int, *role: Role, size: int) -> torch.Tensor:
    """A random order of 0..size-1 that is the same on every machine and with every version.

    NumPy promises that the raw words of a bit generator never change; it promises nothing about `permutation`,
    nor does torch. Sorting raw words gives a uniform order (ties have probability below size² / 2⁶⁴).
    """
    words = np.random.PCG64(_sequence(seed, role)).random_raw(size)
    return torch.from_numpy(np.argsort(words, kind="stable"))


class Streams:
    """One random stream for each of several chains, so that a chain does not depend on how many run beside it."""

    def __init__(self, seed: int, *role: Role, count: int, device: torch.device | str = "cpu") -> None:
        self._generators = [stream(seed, *role, index, device=device) for index in range(count)]

    def uniform(self, size: int) -> torch.Tensor:
        """Numbers in [0, 1), [chains, size], in double precision: a tie among a million has probability 1e-4."""
        draws = [
            torch.rand(size, generator=each, device=each.device, dtype=torch.float64) for each in self._generators
        ]
        return torch.stack(draws)

    def state(self) -> torch.Tensor:
        """Where every stream stands, as bytes [chains, n]: all that a resumed run needs."""
        return torch.stack([each.get_state() for each in self._generators])

    def restore(self, state: torch.Tensor) -> None:
        """Go on from where `state()` was taken."""
        for each, saved in zip(self._generators, state, strict=True):
            # a row of a larger tensor has an offset that torch does not heed here
            each.set_state(saved.cpu().clone())


def seed_global(seed: int, *role: Role) -> None:
    """Seed torch's global generator, on all devices: dropout draws from there and takes no other."""
    torch.manual_seed(int(_sequence(seed, role).generate_state(1, np.uint64)[0]) >> 1)
