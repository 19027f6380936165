import csv
import json

import numpy as np
import pytest
import torch

from cli.test_sample import run
from mhaug.checks import RequestError
from mhaug.data.files import read_graph
from mhaug.data.memory_mapped import MemoryMapped
from mhaug.data.toy_graphs import planted_partition


@pytest.fixture
def folder(tmp_path):
    """Three groups of twenty; the same graph in one file beside it."""
    data = planted_partition(3, 20, p_in=0.3, p_out=0.02, features=8, seed=1)
    order = torch.randperm(60, generator=torch.Generator().manual_seed(0))
    arrays = {"edge_index": data.edge_index.numpy(), "y": data.y.numpy()}
    for name, nodes in (("train_mask", order[:20]), ("val_mask", order[20:40]), ("test_mask", order[40:])):
        arrays[name] = np.isin(np.arange(60), nodes)
    (tmp_path / "graph").mkdir()
    np.savez(tmp_path / "graph" / "graph.npz", **arrays)
    np.save(tmp_path / "graph" / "x.npy", data.x.numpy())
    np.savez(tmp_path / "whole.npz", **arrays, x=data.x.numpy())
    return tmp_path / "graph"


def test_features_stay_in_their_file(folder):
    graph = read_graph(folder)
    assert isinstance(graph.x, MemoryMapped)
    assert graph.num_nodes == 60
    assert torch.equal(graph.x.rows(torch.tensor([7, 3])), read_graph(folder.parent / "whole.npz").x[[7, 3]])


def test_from_the_command_line(folder, capsys):
    """Training and predictions are those of the same graph in memory."""
    fast = ["--set", "max_updates=5", "--set", "batch_size=8", "--set", "hidden=8", "--json"]
    found = []
    for graph in (folder, folder.parent / "whole.npz"):
        out, table = folder.parent / f"run-{graph.stem}", folder.parent / f"{graph.stem}.csv"
        assert run("train", "--graph", str(graph), *fast, "--out", str(out)) == 0
        assert run("predict", "--model", str(out), "--out", str(table), "--quiet") == 0
        record = json.loads(capsys.readouterr().out)["runs"][0]
        found.append((record["test_accuracy"], list(csv.reader(table.open()))))
    assert found[0] == found[1]
    assert run("train", "--graph", str(folder), "--set", "max_updates=5", "--quiet") == 2
    assert "'batch_size' must be given where features are in a file" in capsys.readouterr().err


def test_what_does_not_fit(folder):
    np.save(folder / "x.npy", np.zeros((59, 8)))
    with pytest.raises(RequestError, match=r"x.npy' must be of a row for each of the 60 nodes in graph.npz; got 59"):
        read_graph(folder)
    (folder / "x.npy").unlink()
    with pytest.raises(RequestError, match=r"must be a .npy file; got .*x.npy"):
        read_graph(folder)
    np.save(folder / "x.npy", np.zeros((60, 8)))
    (folder.parent / "whole.npz").replace(folder / "graph.npz")
    with pytest.raises(RequestError, match=r"graph.npz' must be without features, which x.npy holds"):
        read_graph(folder)
