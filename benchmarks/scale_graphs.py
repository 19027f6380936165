"""Graphs for `benchmarks/scale.py`: edges of a given number, features in a file, classes that can be learned."""

from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data

from mhaug import NodeTask, Split
from mhaug.data.memory_mapped import MemoryMapped


def generated_edges(nodes, edges, *, seed=0):
    """`edges` undirected edges, both directions. One end is even over the nodes, the other prefers a few: hubs."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(nodes)  # a hub may have any number
    drawn = int(edges * 1.02)
    even = rng.integers(0, nodes, drawn, dtype=np.int64)
    hubs = names[(nodes * rng.random(drawn) ** 2).astype(np.int64)]
    keys = np.minimum(even, hubs)[even != hubs] * nodes + np.maximum(even, hubs)[even != hubs]
    del even, hubs
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
    # too many are thinned evenly: cutting off the end would leave the last nodes bare
    keys = keys[np.linspace(0, len(keys) - 1, edges).astype(np.int64)]
    edge_index = np.empty((2, 2 * edges), dtype=np.int64)
    edge_index[0, :edges], edge_index[1, :edges] = keys // nodes, keys % nodes
    edge_index[:, edges:] = edge_index[::-1, :edges]
    return torch.from_numpy(edge_index)


def features_file(path, classes, width, *, noise=4.0, seed=0):
    """Rows around the centre of each node's class, written in parts; made once."""
    path = Path(path)
    if not path.is_file():
        rng = np.random.default_rng(seed)
        centres = rng.standard_normal((int(classes.max()) + 1, width), dtype=np.float32)
        part = path.with_suffix(".part.npy")
        file = np.lib.format.open_memmap(part, mode="w+", dtype=np.float32, shape=(len(classes), width))
        for start in range(0, len(classes), 2**16):
            own = classes[start : start + 2**16].numpy()
            file[start : start + 2**16] = centres[own] + noise * rng.standard_normal(
                (len(own), width), dtype=np.float32
            )
        file.flush()
        part.replace(path)
    return MemoryMapped(path)


def large_task(edge_index, nodes, folder, *, name, classes=47, width=100, labelled=0.08, seed=0):
    """A task on generated features in a file; the share of labelled nodes is ogbn-products' by default."""
    rng = np.random.default_rng(seed + 1)
    labels = torch.from_numpy(rng.integers(0, classes, nodes))
    role = torch.from_numpy(rng.random(nodes))
    split = Split(role < labelled, (role >= labelled) & (role < labelled + 0.02), role >= labelled + 0.02)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    x = features_file(folder / f"{name}-{nodes}x{width}.npy", labels, width, seed=seed)
    return NodeTask.from_data(Data(x=x, edge_index=edge_index, y=labels), split=split, name=name)
