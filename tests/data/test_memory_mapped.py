import resource
import sys

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from methods.problems import planted_task
from mhaug import NodeClassifier, NodeTask, Split
from mhaug.checks import RequestError
from mhaug.data.memory_mapped import MemoryMapped
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.training.plan import Plan


def in_file(tmp_path, array) -> MemoryMapped:
    np.save(tmp_path / "x.npy", array)
    return MemoryMapped(tmp_path / "x.npy")


def test_rows_are_those_of_the_file(tmp_path):
    values = np.arange(12, dtype=np.float16).reshape(6, 2)
    x = in_file(tmp_path, values)
    assert x.shape == (6, 2)
    assert len(x) == 6
    rows = x.rows(torch.tensor([5, 0, 5]))
    assert rows.dtype == torch.float32
    assert rows.tolist() == [[10.0, 11.0], [0.0, 1.0], [10.0, 11.0]]
    assert repr(x).endswith("x.npy', 6 x 2, float16)")


def test_a_file_trains_to_the_numbers_of_the_tensor(tmp_path):
    task = planted_task()
    data = Data(x=in_file(tmp_path, task.graph.x.numpy()), edge_index=task.graph.edge_index, y=task.labels)
    mapped = NodeTask.from_data(data, split=task.split, name=task.name)
    settings = {"batch_size": 8, "fan_outs": (3, 2), "max_updates": 8}
    first = NodeClassifier("mh-aug", **settings).fit(task)
    second = NodeClassifier("mh-aug", **settings).fit(mapped)
    assert first.result_.history == second.result_.history
    assert torch.equal(first.predict_proba(task), second.predict_proba(mapped))


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on allocations is Linux's")
def test_only_the_rows_of_a_batch_are_read(tmp_path):
    """A file of 2 GiB (sparse on disk) under an allocation limit of 300 MB: the heap may grow by no more.

    RLIMIT_DATA counts what is allocated, and not the file's own pages, which the system takes back at will.
    """
    path, nodes, width = tmp_path / "large.npy", 2**18, 2048
    np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(nodes, width)).flush()
    source = torch.randint(nodes, (2, 4 * nodes), generator=torch.Generator().manual_seed(0))
    labels = torch.arange(nodes) % 2
    train = torch.zeros(nodes, dtype=torch.bool)
    train[:64] = True
    nobody = torch.zeros_like(train)
    data = Data(x=MemoryMapped(path), edge_index=source, y=labels)
    task = NodeTask.from_data(data, split=Split(train, ~train, nobody))
    plan = Plan.of("gcn", "drop-edge", {"batch_size": 32, "fan_outs": (4, 4), "hidden": 8})
    learner = plan.begin_in_batches(task, LargeGraph.of(task.graph), plan.network(width, 2, seed=0), seed=0)
    learner.step(1)
    with open("/proc/self/status") as status:
        now = 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmData"))
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (now + 300 * 2**20, before[1]))
    try:
        learner.step(1)
        with pytest.raises(MemoryError):  # the limit is one: all rows at once would not fit
            data.x.rows(torch.arange(nodes))
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(3), r"'path' must be a .npy file of numbers, \[nodes, features\]; got 'float64 \(3,\)'"),
        (np.array([["a"]]), "'path' must be a .npy file of numbers"),
    ],
)
def test_wrong_files(tmp_path, array, words):
    with pytest.raises(RequestError, match=words):
        in_file(tmp_path, array)


def test_what_is_no_array_file(tmp_path):
    (tmp_path / "x.npy").write_text("words")
    with pytest.raises(RequestError, match=r"'path' must be a .npy file; got"):
        MemoryMapped(tmp_path / "x.npy")
    with pytest.raises(RequestError, match=r"'path' must be a .npy file; got"):
        MemoryMapped(tmp_path / "missing.npy")


def test_a_value_that_is_not_finite_is_found_when_it_is_read(tmp_path):
    x = in_file(tmp_path, np.array([[1.0], [np.nan]]))
    assert x.rows(torch.tensor([0])).tolist() == [[1.0]]
    with pytest.raises(RequestError, match="'x' must be finite everywhere"):
        x.rows(torch.tensor([1]))


def test_the_whole_graph_at_once_is_refused(tmp_path):
    task = planted_task()
    data = Data(x=in_file(tmp_path, task.graph.x.numpy()), edge_index=task.graph.edge_index, y=task.labels)
    mapped = NodeTask.from_data(data, split=task.split)
    with pytest.raises(RequestError, match="'batch_size' must be given where features are in a file"):
        NodeClassifier("vanilla").fit(mapped)
