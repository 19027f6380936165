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


def seed_of_rank(seed: int, rank: int) -> int:
    """The seed of what each rank of a job draws for itself; that of rank 0 is the job's own."""
    return seed if rank == 0 else int(_sequence(seed, ("rank", rank)).generate_state(1, np.uint64)[0]) >> 1


def ordering(seed: int, *role: Role, size: int) -> torch.Tensor:
    """A random order of 0..size-1 that is the same on every machine and with every version.

    NumPy promises that the raw words of a bit generator never change; it promises nothing about `permutation`,
    nor does torch. Sorting raw words gives a uniform order (ties have probability below size² / 2⁶⁴).
    """
    words = np.random.PCG64(_sequence(seed, role)).random_raw(size)
    return torch.from_numpy(np.argsort(words, kind="stable"))


class Streams:
    """One random stream for each of several chains, so that a chain does not depend on how many run beside it.

    On the CPU the numbers come from NumPy (three times as fast as torch), elsewhere from torch's generators.
    """

    def __init__(self, seed: int, *role: Role, count: int, device: torch.device | str = "cpu") -> None:
        kind = _OnCPU if torch.device(device).type == "cpu" else _OnDevice
        self.each = [kind(seed, (*role, index), device) for index in range(count)]

    def uniform(self, size: int) -> torch.Tensor:
        """Numbers in [0, 1), [chains, size], in double precision: a tie among a million has probability 1e-4."""
        return torch.stack([one.uniform(size) for one in self.each])

    def generator(self, index: int) -> np.random.Generator:
        """One stream on the CPU as NumPy's generator, for laws other than the uniform that are drawn from doubles.

        No whole numbers (`integers`, `choice`): NumPy keeps the half of a word that they leave over beside the state.
        """
        one = self.each[index]
        assert isinstance(one, _OnCPU)
        return one.generator

    def state(self) -> torch.Tensor:
        """Where every stream stands, as bytes [chains, n]: all that a resumed run needs."""
        return torch.stack([one.state() for one in self.each])

    def restore(self, state: torch.Tensor) -> None:
        """Go on from where `state()` was taken."""
        for one, saved in zip(self.each, state, strict=True):
            # a row of a larger tensor has an offset, which torch's generators do not heed
            one.restore(saved.cpu().clone())


class SharedStream:
    """Numbers for several replicas at once from torch's global generator of a device.

    One call instead of one for each replica, and the only source that a CUDA graph can go on drawing from. What one
    replica draws then depends on how many run beside it; its law does not. The generator's state is the run's.
    """

    def __init__(self, count: int, device: torch.device | str) -> None:
        self._count, self._device = count, device

    def uniform(self, size: int) -> torch.Tensor:
        """Numbers in [0, 1), [replicas, size], in double precision."""
        return torch.rand(self._count, size, dtype=torch.float64, device=self._device)

    def state(self) -> torch.Tensor:
        """Nothing of its own."""
        return torch.empty(0)

    def restore(self, state: torch.Tensor) -> None:
        """Nothing to restore."""


class _OnCPU:
    def __init__(self, seed: int, role: tuple[Role, ...], device: torch.device | str) -> None:
        self.generator = np.random.Generator(np.random.SFC64(_sequence(seed, role)))

    def numbers(self, size: int) -> np.ndarray:
        return self.generator.random(size)

    def uniform(self, size: int) -> torch.Tensor:
        return torch.from_numpy(self.numbers(size))

    def state(self) -> torch.Tensor:
        state = self.generator.bit_generator.state
        assert not state["has_uint32"], "half a word is left over, and would not be saved"
        words = state["state"]["state"]
        return torch.from_numpy(words.view(np.uint8).copy())

    def restore(self, state: torch.Tensor) -> None:
        bits = self.generator.bit_generator
        bits.state = {**bits.state, "state": {"state": state.numpy().view(np.uint64)}}


class _OnDevice:
    def __init__(self, seed: int, role: tuple[Role, ...], device: torch.device | str) -> None:
        self._generator = stream(seed, *role, device=device)

    def numbers(self, size: int) -> np.ndarray:
        return self.uniform(size).cpu().numpy()

    def uniform(self, size: int) -> torch.Tensor:
        return torch.rand(size, generator=self._generator, device=self._generator.device, dtype=torch.float64)

    def state(self) -> torch.Tensor:
        return self._generator.get_state()

    def restore(self, state: torch.Tensor) -> None:
        self._generator.set_state(state)


def seed_global(seed: int, *role: Role) -> None:
    """Seed torch's global generator, on all devices: dropout draws from there and takes no other."""
    torch.manual_seed(int(_sequence(seed, role).generate_state(1, np.uint64)[0]) >> 1)
