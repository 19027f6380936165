"""How much memory a rank of a chain in parts takes: opened from a folder, and built from the whole edge list.

A part of `ranks.py`, which starts fresh processes of this file: one that divides, two ranks over gloo for each way.
"""

import hashlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from mhaug import EgoTerm, MHAug
from mhaug.distributed.partitioned import divide, partitioned_chain
from mhaug.distributed.torchrun import joined

SAMPLER = MHAug(edges=EgoTerm(strength=0.3, spread_floor=0.3))
ROUNDS = 2


def memory(data, folder):
    """Peaks of every process, in MiB; "tiny" is what a rank takes for a graph of nine nodes: the libraries."""
    np.save(folder / "edges.npy", data.edge_index.numpy())
    (folder / "nodes").write_text(str(data.num_nodes))
    answers = {"edges": data.edge_index.shape[1] // 2, "nodes": data.num_nodes, "parts": 2, "rounds": ROUNDS}
    _start(folder, "tiny", ranks=2)  # the first process compiles
    for way in ("divide", "tiny", "graph", "folder"):
        answers[way] = _start(folder, way, ranks=1 if way == "divide" else 2)
    answers["same_states"] = len({rank["kept"] for way in ("graph", "folder") for rank in answers[way]}) == 1
    files = [sorted((folder / "division").glob(f"*part{rank}.npz")) for rank in range(2)]
    answers["files_of_rank_mib"] = [round(sum(path.stat().st_size for path in each) / 2**20, 1) for each in files]
    # by layout: what the pieces of a rank have of the columns of the whole graph
    answers["share_of_columns"] = [[_columns(path) / data.edge_index.shape[1] for path in each] for each in files]
    return answers


def _columns(path):
    with np.load(path, allow_pickle=False) as arrays:
        return arrays["messages"].shape[1]


def _start(folder, way, *, ranks):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    world = {**os.environ, "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    command = [sys.executable, __file__, str(folder), way]
    each = [subprocess.Popen(command, env={**world, "RANK": str(rank)}) for rank in range(ranks)]
    assert [rank.wait() for rank in each] == [0] * ranks
    return [json.loads((folder / f"{way}{rank}.json").read_text()) for rank in range(ranks)]


def status(name):
    """VmHWM (the most so far) or VmRSS (now) of this process, MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return round(int(next(line for line in lines if line.startswith(name)).split()[1]) / 2**10, 1)


def tiny():
    nodes = torch.arange(8)
    pairs = torch.stack([nodes, nodes + 1])
    return SimpleNamespace(edge_index=torch.cat([pairs, pairs.flip(0)], 1), num_nodes=9)


def read(folder):
    edges = torch.from_numpy(np.load(folder / "edges.npy"))
    return SimpleNamespace(edge_index=edges, num_nodes=int((folder / "nodes").read_text()))


def work(folder, way, world):
    start = perf_counter()
    if way == "divide":
        divide(read(folder), folder / "division", parts=2, targets=("edges",))
        return {"peak_mib": status("VmHWM"), "seconds": perf_counter() - start}
    data = tiny() if way == "tiny" else read(folder) if way == "graph" else folder / "division"
    chain = partitioned_chain(SAMPLER, data, parts=2, world=world)
    del data
    found = {"built_peak_mib": status("VmHWM"), "built_mib": status("VmRSS"), "seconds": perf_counter() - start}
    chain.step(rounds=ROUNDS)
    kept = hashlib.sha256(chain.kept("edges").numpy().tobytes()).hexdigest()
    return {**found, "peak_mib": status("VmHWM"), "mib": status("VmRSS"), "kept": kept}


if __name__ == "__main__":
    torch.set_num_threads(1)
    with joined() as world:
        place = Path(sys.argv[1])
        (place / f"{sys.argv[2]}{world.rank}.json").write_text(json.dumps(work(place, sys.argv[2], world)))
