"""Work beside the main stream of a GPU; on a CPU it is simply done at once."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


class Aside:
    """A side stream. Small kernels leave a GPU idle; two rows of them leave it half as idle.

    What is made aside may be used after `join`, and must be kept alive until then.
    """

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._busy = False

    @contextmanager
    def work(self) -> Iterator[None]:
        """Run what follows beside the main stream, after all that was asked of it so far."""
        if self._stream is None:
            yield
            return
        self._stream.wait_stream(torch.cuda.current_stream())
        self._busy = True
        with torch.cuda.stream(self._stream):
            yield

    def join(self) -> None:
        """The main stream waits for this one; the host does not."""
        # a stream without work since the last join is no part of what is being captured, and must not be waited for
        if self._stream is not None and self._busy:
            torch.cuda.current_stream().wait_stream(self._stream)
            self._busy = False
