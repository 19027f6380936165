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
GROUP = 1000  # nodes of a small group, a tenth of the graph at most


def size(options):
    """Both kinds of graph at each size, in turns: seconds an update, and the peak memory of a fresh process."""
    rows = {kind: [] for kind in KINDS}
    for edges in SIZES:
        for kind, found in rows.items():
            words = [sys.executable, __file__, kind, str(edges), str(options.threads)]
            printed = subprocess.run(words, capture_output=True, text=True)
            if printed.returncode:
                print(f"{kind}, {edges} edges: exit {printed.returncode}\n{printed.stderr[-500:]}", flush=True)
                continue
            found.append(json.loads(printed.stdout.splitlines()[-1]))
            print(kind, json.dumps(found[-1]), flush=True)
    figure(rows, options.out / "size.png", options.threads)
    slopes = {kind: slope(found) for kind, found in rows.items()}
    return {"slope_from_1e5": slopes, "hidden": HIDDEN, "mean_degree": DEGREE, "rows": rows}


def slope(rows):
    """1 where ten times the edges take ten times as long."""
    large = [row for row in rows if row["nodes"] >= 10_000]
    return float(np.polyfit(*(np.log([row[name] for row in large]) for name in ("edges", "seconds")), 1)[0])


def classes_anywhere(edges, rng):
    """Eight classes of any nodes, three edges in four within a class: what an entry needs lies anywhere in memory."""
    nodes = 2 * edges // DEGREE
    labels = rng.integers(CLASSES, size=nodes)
    by_class = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[by_class], np.arange(CLASSES + 1))
    source, within = rng.integers(nodes, size=edges), rng.random(edges) < 0.75
    first, last = starts[labels[source]], starts[labels[source] + 1]
    return labels, source, np.where(within, by_class[rng.integers(first, last)], rng.integers(nodes, size=edges))


def groups_in_order(edges, rng):
    """Groups of successive nodes, each of one class; one edge in twenty goes anywhere."""
    nodes = 2 * edges // DEGREE
    group = min(GROUP, nodes // 10)
    labels = np.arange(nodes) // group % CLASSES
    source, within = rng.integers(nodes, size=edges), rng.random(edges) < 0.95
    near = np.minimum(source // group * group + rng.integers(group, size=edges), nodes - 1)
    return labels, source, np.where(within, near, rng.integers(nodes, size=edges))


KINDS = {"classes anywhere": classes_anywhere, "groups in order": groups_in_order}


def planted_task(kind, edges, seed=0):
    """Mean degree 20; 128 features of which eight are set."""
    rng = np.random.default_rng(seed)
    labels, source, target = KINDS[kind](edges, rng)
    nodes, low, high = len(labels), np.minimum(source, target), np.maximum(source, target)
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


def measure(kind, edges, threads):
    """The child's side of `size`: median of the updates after the first few."""
    torch.set_num_threads(threads)
    from training import Ours

    start = perf_counter()
    task = planted_task(kind, edges)
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
    """Time an edge: flat where growth is linear. Small graphs pay for overhead, large ones for memory in no order."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    canvas, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for kind, found in rows.items():
        edges, seconds = (np.array([row[name] for row in found], dtype=float) for name in ("edges", "seconds"))
        axes.semilogx(edges, 1e6 * seconds / edges, "o-", label=kind)
    axes.set(xlabel="undirected edges", ylabel="time of one update, per edge (µs)")
    axes.set_ylim(bottom=0)
    axes.set_title(f"mh-aug, GCN, planted partitions of mean degree {DEGREE}, threads: {threads}")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(path, dpi=150)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
