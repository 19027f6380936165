import os
import signal
from contextlib import contextmanager

import pytest

from mhaug.distributed.told_to_stop import told_to_stop
from mhaug.distributed.world import RankLostError


@contextmanager
def handler_kept():
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield before
    finally:
        signal.signal(signal.SIGTERM, before)


def compute_until_told():
    with told_to_stop(1, 4):
        os.kill(os.getpid(), signal.SIGTERM)
        while True:
            sum(range(1000))


def test_a_rank_that_computes_is_told():
    """The first one is an error; those still on their way do not interrupt what it has to say."""
    with handler_kept():
        with pytest.raises(RankLostError, match=r"rank 1 of 4 was told to stop \(another rank is gone"):
            compute_until_told()
        os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("failure", [None, ValueError])
def test_the_old_handler_is_put_back(failure):
    with handler_kept() as before:
        try:
            with told_to_stop(0, 2):
                assert signal.getsignal(signal.SIGTERM) is not before
                if failure:
                    raise failure
        except ValueError:
            pass
        assert signal.getsignal(signal.SIGTERM) is before
