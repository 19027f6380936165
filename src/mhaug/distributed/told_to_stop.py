"""SIGTERM as an error: torchrun sends it to those that are left when a rank dies, whatever they are computing."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from mhaug.distributed.world import RankLostError


@contextmanager
def told_to_stop(rank: int, size: int) -> Iterator[None]:
    """Inside, the first SIGTERM raises `RankLostError`; the old handler is put back at the end.

    Only after such an error SIGTERM goes on being ignored: it is still on its way to a rank that has noticed by
    itself, and that rank has a line to write before it exits.
    """
    if threading.current_thread() is not threading.main_thread():  # signals are for the main thread alone
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        reason = "another rank is gone, or the job was ended"
        raise RankLostError(f"rank {rank} of {size} was told to stop ({reason})")

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except RankLostError:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise
    except BaseException:
        signal.signal(signal.SIGTERM, before)
        raise
    signal.signal(signal.SIGTERM, before)
