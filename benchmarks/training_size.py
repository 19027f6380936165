"""Cost of one mh-aug update against the number of edges, on planted partitions: part `size` of `training.py`."""

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from torch_geometric.data import Data

from mhaug import NodeTask

SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278, 10_000_000)  # undirected pairs
CLASSES, DEGREE, FEATURES, WORDS, HIDDEN = 8, 20, 128, 8, 64


def size(options):
    """A fresh process for each size: seconds an update, and its peak memory."""
    rows = []
    for edges in SIZES:
        words = [sys.executable, __file__, str(edges), str(options.threads)]
        printed = subprocess.run(words, capture_output=True, text=True)
        if printed.returncode:
            print(f"{edges} edges: no result (exit {printed.returncode})\n{printed.stderr[-500:]}", flush=True)
            break
        rows.append(json.loads(printed.stdout.splitlines()[-1]))
        print(json.dumps(rows[-1]), flush=True)
    large = [row for row in rows if row["edges"] >= 100_000]
    slope = np.polyfit(*(np.log([row[name] for row in large]) for name in ("edges", "seconds")), 1)[0]
    figure(rows, options.out / "size.png", options.threads)
    return {"slope_from_1e5": float(slope), "hidden": HIDDEN, "mean_degree": DEGREE, "rows": rows}


def planted_task(edges, seed=0):
    """Eight classes, mean degree 20, three edges in four within a class; 128 features of which eight are set."""
    rng = np.random.default_rng(seed)
    nodes = 2 * edges // DEGREE
    labels = rng.integers(CLASSES, size=nodes)
    by_class = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[by_class], np.arange(CLASSES + 1))
    source, within = rng.integers(nodes, size=edges), rng.random(edges) < 0.75
    first, last = starts[labels[source]], starts[labels[source] + 1]
    target = np.where(within, by_class[rng.integers(first, last)], rng.integers(nodes, size=edges))
    low, high = np.minimum(source, target), np.maximum(source, target)
    keys = np.unique(low[low < high] * nodes + high[low < high])
    pairs = torch.from_numpy(np.stack([keys // nodes, keys % nodes]))
    return _task(labels, torch.cat([pairs, pairs.flip(0)], dim=1), rng)


def _task(labels, edge_index, rng):
    """Half of a node's words are those of its class, half are anybody's."""
    nodes = len(labels)
    own = labels[:, None] * (FEATURES // CLASSES) + rng.integers(FEATURES // CLASSES, size=(nodes, WORDS // 2))
    words = np.concatenate([own, rng.integers(FEATURES, size=(nodes, WORDS // 2))], axis=1)
    values = torch.full((nodes * WORDS,), 1.0 / WORDS)
    rows = torch.arange(nodes).repeat_interleave(WORDS)
    places = torch.stack([rows, torch.from_numpy(words.reshape(-1))])
    x = torch.sparse_coo_tensor(places, values, (nodes, FEATURES), check_invariants=False).to_sparse_csr()
    data = Data(x=x, edge_index=edge_index, y=torch.from_numpy(labels))
    return NodeTask.from_data(data, split="random")


def measure(edges, threads):
    """The child's side of `size`: median of the updates after the first few."""
    torch.set_num_threads(threads)
    from training import Ours

    start = perf_counter()
    task = planted_task(edges)
    ours = Ours(task, "gcn", hidden=HIDDEN)
    ready = perf_counter() - start
    updates = int(np.clip(3e6 / edges, 1, 50))
    ours.train(1)
    seconds = []
    for _ in range(5):
        start = perf_counter()
        ours.train(updates)
        seconds.append((perf_counter() - start) / updates)
    return {
        "edges": task.graph.edge_index.shape[1] // 2,
        "nodes": task.num_nodes,
        "seconds": float(np.median(seconds)),
        "range": [min(seconds), max(seconds)],
        "prepare_seconds": ready,
        "peak_gib": int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 2**20,
    }


def figure(rows, path, threads):
    """Log-log, with a line of slope 1 through the graph of 10^5 edges: below, overhead counts; above, caches end."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    edges, seconds = (np.array([row[name] for row in rows], dtype=float) for name in ("edges", "seconds"))
    canvas, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    anchor = np.abs(np.log(edges / 1e5)).argmin()
    line = seconds[anchor] * edges / edges[anchor]
    axes.loglog(edges, 1e3 * line, "--", color="0.5", label="proportional to the edges")
    axes.loglog(edges, 1e3 * seconds, "o-", color="C0", label=f"mh-aug, GCN, threads: {threads}")
    axes.set(xlabel="undirected edges", ylabel="time of one update (ms)")
    axes.set_title("Cost of an update on planted partitions of mean degree 20")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(path, dpi=150)


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))))
