"""Node features that stay in a file: rows are read when they are asked for."""

import mmap
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mhaug import checks
from mhaug.checks import RequestError


class MemoryMapped:
    """Features [nodes, features] in a `.npy` file, for the `x` of a graph that is trained in batches.

    Only the rows of a batch are ever in memory, as torch's default float type; the file may hold a smaller one. The
    values are checked batch by batch, since a look at all of them would read the whole file.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self._array: np.ndarray = np.load(self.path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError) as broken:
            raise RequestError(
                f"'path' must be a .npy file; got {str(path)!r} ({checks.one_line(broken)})"
            ) from broken
        fits = isinstance(self._array, np.memmap) and self._array.ndim == 2 and self._array.dtype.kind in "fiu"
        rule = "a .npy file of numbers, [nodes, features]"
        checks.require(fits and min(self._array.shape) > 0, "path", rule, f"{self._array.dtype} {self._array.shape}")
        _expect_jumps(self._array)

    @property
    def shape(self) -> tuple[int, int]:
        return self._array.shape[0], self._array.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"MemoryMapped({str(self.path)!r}, {self.shape[0]} x {self.shape[1]}, {self._array.dtype})"

    def rows(self, nodes: Tensor) -> Tensor:
        """The rows of these nodes, on their device."""
        found = torch.from_numpy(np.asarray(self._array[nodes.cpu().numpy()])).to(torch.get_default_dtype())
        checks.require(bool(found.sum().isfinite()), "x", "finite everywhere", f"a value that is not, in {self.path}")
        return found.to(nodes.device)

    def to(self, *_: Any, **__: Any) -> "MemoryMapped":
        """The file stays where it is, whatever the device of the graph; `rows` come to the device."""
        return self


def _expect_jumps(array: np.ndarray) -> None:
    """Tell the system that rows are read in no order: reading ahead would fetch what nobody asked for."""
    mapping = getattr(array, "_mmap", None)
    if mapping is not None and hasattr(mmap, "MADV_RANDOM"):
        mapping.madvise(mmap.MADV_RANDOM)
