"""A pool of worker processes on this machine. A worker that dies costs its run, and is replaced."""

import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from mhaug.experiments.engines.engine import Doing, Outcome, Work, answer, outcome
from mhaug.experiments.spec import RunSpec
from mhaug.experiments.store import Failure

# a forked process inherits locks of threads that it does not have, and cannot use a GPU
_CONTEXT = multiprocessing.get_context("spawn")


@dataclass
class _Worker:
    process: BaseProcess
    line: Connection
    spec: RunSpec | None = None


@dataclass(frozen=True)
class Processes:
    """`workers` processes, each with as many threads as `work` says."""

    work: Doing = field(default_factory=Work)
    workers: int = 2

    def run(self, specs: Sequence[RunSpec]) -> Iterator[Outcome]:
        """In the order of the list, a run for each worker that is free."""
        waiting, busy = deque(specs), dict[Any, _Worker]()
        idle = [self._hire() for _ in range(min(self.workers, len(waiting)))]
        try:
            while waiting or busy:
                while waiting and idle:
                    worker = idle.pop()
                    worker.spec = waiting.popleft()
                    # one that is dead already is heard of like one that dies at work
                    with suppress(OSError):
                        worker.line.send(worker.spec.to_json())
                    busy[worker.line] = worker
                for line in wait(list(busy)):
                    worker = busy.pop(line)
                    heard, alive = _heard(worker)
                    yield heard
                    idle.append(worker if alive else self._hire())
        finally:
            for worker in [*idle, *busy.values()]:
                worker.process.terminate()

    def _hire(self) -> _Worker:
        mine, theirs = _CONTEXT.Pipe()
        process = _CONTEXT.Process(target=_serve, args=(theirs, self.work, os.getpid()), daemon=True)
        process.start()
        # the driver's copy of the other end would keep the line open after the worker's death
        theirs.close()
        return _Worker(process, mine)


def _heard(worker: _Worker) -> tuple[Outcome, bool]:
    """What a worker answered, and whether it lives."""
    assert worker.spec is not None
    try:
        said = worker.line.recv()
    # at work, or in the middle of its answer
    except (EOFError, OSError):
        worker.process.join()
        return Failure(worker.spec, f"the worker died with exit status {worker.process.exitcode}"), False
    return outcome(worker.spec, said), True


def _serve(line: Connection, work: Doing, driver: int) -> None:
    """The worker's side: specs in, answers out, until the driver is gone."""
    threading.Thread(target=_leave_with, args=(driver,), daemon=True).start()
    while True:
        try:
            spec: dict[str, Any] = line.recv()
        except (EOFError, KeyboardInterrupt):
            return
        line.send(answer(work, spec))


def _leave_with(driver: int) -> None:
    """A killed driver cannot say good-bye: its workers look whether it is still their parent."""
    while os.getppid() == driver:
        time.sleep(1.0)
    os._exit(1)
