"""Two real processes on this machine, over gloo, with a time limit: nothing may hang."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

LIMIT = 150  # seconds; the machine may be busy
HERE = Path(__file__).parent


def environment(**more: str) -> dict[str, str]:
    paths = [str(HERE.parents[1] / "src"), str(HERE.parent), os.environ.get("PYTHONPATH", "")]
    # no thread of one rank should take the other's core
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1", "MHAUG_DEBUG": "", **more}


def two_ranks(script: str, *words: str) -> None:
    """Run a script of this folder as two ranks, without torchrun's own start-up time."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    world = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    command = [sys.executable, str(HERE / script), *words]
    ranks = [subprocess.Popen(command, env=environment(**world, RANK=str(rank))) for rank in range(2)]
    try:
        assert [rank.wait(LIMIT) for rank in ranks] == [0, 0]
    finally:
        for rank in ranks:
            rank.kill()


def torchrun(*words: str) -> subprocess.Popen[str]:
    """`torchrun --nproc-per-node 2 -m mhaug ...`, in a process group of its own."""
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "mhaug"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*start, *words], env=environment(), start_new_session=True, **pipes)


def finish(job: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Status and output of a job; it and its ranks are killed at the limit."""
    try:
        out, err = job.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(job.pid, signal.SIGKILL)
        raise
    return job.returncode, out, err


def process_of_rank(job: subprocess.Popen[str], rank: int) -> int | None:
    """The process that torchrun started for a rank, once it is there."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == job.pid and f"RANK={rank}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                return int(folder.name)
        except (OSError, IndexError):
            continue
    return None
