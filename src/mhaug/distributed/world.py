"""The ranks of a job, and what they say to each other. Alone, every word is an echo."""

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor


class RankLostError(RuntimeError):
    """Another rank is gone, or does not answer: the job cannot go on."""


@dataclass(frozen=True)
class World:
    """Which rank this process is, out of how many. All ranks must call the same methods in the same order."""

    rank: int = 0
    size: int = 1
    device: str = "cpu"  # where tensors must be to be sent
    alone_at_work: Any = None  # a group that waits for long, where there is one
    group: Any = None  # the group to talk in; None: that of all

    @classmethod
    def alone(cls) -> "World":
        """One process, no group."""
        return cls()

    @property
    def leads(self) -> bool:
        """Rank 0 writes files and prints."""
        return self.rank == 0

    @property
    def patient(self) -> "World":
        """The same ranks, for words that rank 0 has to work for, alone and for as long as it takes."""
        return self if self.alone_at_work is None else replace(self, device="cpu", group=self.alone_at_work)

    def share_of(self, things: int) -> range:
        """The numbers 0..things-1 that fall to this rank, dealt out in turn."""
        return range(self.rank, things, self.size)

    def total(self, values: Tensor) -> Tensor:
        """The sum over the ranks, the same bits on each."""
        return self._collective("all_reduce", values)

    def from_first(self, values: Tensor) -> Tensor:
        """What rank 0 has; the others bring a tensor of the same shape and type."""
        return self._collective("broadcast", values, src=0)

    def wait(self) -> None:
        """Until all ranks are here."""
        self.total(torch.zeros(1))

    def decides(self, choice: bool) -> bool:
        """The choice of rank 0, for all."""
        return choice if self.size == 1 else bool(self.from_first(torch.tensor([choice], dtype=torch.uint8)).item())

    def union(self, marks: np.ndarray) -> np.ndarray:
        """Marks (bool) that any rank has set, where no two have set the same: eight to a byte on the way."""
        if self.size == 1:
            return marks
        # a bit is set by one rank at most, so a sum is a union
        packed = self.total(torch.from_numpy(np.packbits(marks)))
        return np.unpackbits(packed.numpy(), count=len(marks)).view(np.bool_)

    def bytes_from_first(self, content: bytes) -> bytes:
        """What rank 0 has, of any length."""
        length = int(self.from_first(torch.tensor([len(content)])).item())
        if self.size == 1 or length == 0:
            return content if self.leads else b""
        mine = content if self.leads else bytes(length)
        return self.from_first(torch.frombuffer(bytearray(mine), dtype=torch.uint8)).numpy().tobytes()

    def bytes_of_all(self, content: bytes) -> list[bytes]:
        """What each rank has, in the order of ranks."""
        lengths = torch.zeros(self.size, dtype=torch.long)
        lengths[self.rank] = len(content)
        ends = self.total(lengths).cumsum(0).tolist()
        starts = [0, *ends[:-1]]
        whole = torch.zeros(ends[-1], dtype=torch.uint8)
        if content:
            whole[starts[self.rank] : ends[self.rank]] = torch.frombuffer(bytearray(content), dtype=torch.uint8)
        together = self.total(whole).numpy().tobytes()
        return [together[start:end] for start, end in zip(starts, ends, strict=True)]

    def _collective(self, name: str, values: Tensor, **options: Any) -> Tensor:
        if self.size == 1 or values.numel() == 0:
            return values
        from torch import distributed

        sent = values.detach().to(self.device, copy=True).contiguous()
        try:
            getattr(distributed, name)(sent, group=self.group, **options)
        except RankLostError:
            raise
        except RuntimeError as broken:
            # the first sentence, without the place in gloo's sources that it starts with
            reason = re.sub(r"^\[[^\]]*\] *", "", " ".join(str(broken).split())).split(". ")[0][:160]
            raise RankLostError(f"rank {self.rank} of {self.size} lost another rank ({reason})") from broken
        return sent.to(values.device)
