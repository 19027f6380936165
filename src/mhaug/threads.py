"""How many threads training and sampling take."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

SMALL = 100_000  # columns


@contextmanager
def threads_for(num_edges: int) -> Iterator[None]:
    """One for a small graph, torch's own number for others; that is put back in the end.

    The steps of a small graph are too short for a second thread to be of use. On a machine with other work threads
    wait for each other, and all takes ten times as long.
    """
    before = torch.get_num_threads()
    if num_edges < SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
