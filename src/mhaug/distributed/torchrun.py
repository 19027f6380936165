"""Join the group that `torchrun` started; say each piece of bad news once, not once a rank."""

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import sleep
from typing import Any

from mhaug import checks
from mhaug.checks import RequestError
from mhaug.distributed.told_to_stop import told_to_stop
from mhaug.distributed.world import RankLostError, World

PATIENCE = timedelta(minutes=10)  # a rank that is silent for so long is taken for dead
LONG = timedelta(days=1)  # while rank 0 works alone; one that dies is noticed at once all the same
GRACE = 1.0  # seconds; the first rank that exits has the others killed, so the one that speaks goes first


@contextmanager
def joined(device: str = "cpu") -> Iterator[World]:
    """The world that `torchrun` describes in the environment; alone where it did not start this process.

    An error that several ranks meet is raised on one of them; the others exit with the same status and no words.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield World.alone()
        return
    from torch.distributed.rendezvous import rendezvous

    # the store is that of torchrun itself, so it outlives any rank
    store, rank, size = next(rendezvous("env://", timeout=PATIENCE))
    try:
        with told_to_stop(rank, size):
            yield _join(store, rank, size, device)
    except Exception as failure:
        if _said_before(store, failure):
            sleep(GRACE)
            raise SystemExit(2 if isinstance(failure, RequestError) else 1) from failure
        raise
    else:
        from torch import distributed

        distributed.destroy_process_group()


def _join(store: Any, rank: int, size: int, device: str) -> World:
    """This rank's place in the group."""
    import torch
    from torch import distributed

    on_gpu = device.startswith("cuda")
    backend = "gloo"
    if on_gpu:
        # in the same words on every rank, to be said once
        found, wanted = torch.cuda.device_count(), torch.device(device).index or 0
        checks.require(wanted < found, "device", "a GPU for each rank of this machine", f"{found} GPUs")
        torch.cuda.set_device(device)
        backend = "cpu:gloo,cuda:nccl"
    distributed.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=PATIENCE)
    alone_at_work = distributed.new_group(backend="gloo", timeout=LONG)
    return World(rank, size, device if on_gpu else "cpu", alone_at_work)


def local_device(device: str) -> str:
    """The GPU of this rank where "cuda" is asked for under torchrun; else what was asked for."""
    local = os.environ.get("LOCAL_RANK")
    return f"cuda:{local}" if device == "cuda" and local is not None else device


def _said_before(store: Any, failure: Exception) -> bool:
    """Whether other ranks have said enough: the same words, or, where a rank is missed, why it went."""
    try:
        someone_spoke = int(store.add("mhaug/failures", 1)) > 1
        same_words = int(store.add(f"mhaug/{zlib.crc32(str(failure).encode())}", 1)) > 1
    except RuntimeError:  # the store is gone as well
        return False
    return someone_spoke if isinstance(failure, RankLostError) else same_words
