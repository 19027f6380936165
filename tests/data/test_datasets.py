import numpy as np
import pytest
import torch

from mhaug.checks import RequestError
from mhaug.data.datasets import DATASETS, TOY_GRAPHS, load_dataset, load_graph
from mhaug.data.splits import Split

NAMES = ["digits", "cora", "citeseer", "pubmed", "computers", "photo", "cs", "physics", "planted-partition"]
SIZES = {
    "digits": [50, 300, 1447],
    "cora": [140, 500, 1000],
    "citeseer": [120, 500, 1000],
    "pubmed": [60, 500, 1000],
    "computers": [200, 300, 13252],
    "photo": [160, 240, 7250],
    "cs": [300, 450, 17583],
    "planted-partition": [60, 90, 150],
}


def sizes(split):
    return [int(part.sum()) for part in (split.train, split.validation, split.test)]


def check(name, root):
    task, row = load_dataset(name, root), DATASETS[name]
    counts = (task.num_nodes, task.graph.num_edges, task.graph.num_features, task.num_classes)
    assert counts == (row.nodes, 2 * row.edges, row.features, row.classes)
    assert task.graph.is_undirected()
    assert not task.graph.has_self_loops()
    assert sizes(task.split) == SIZES[name]
    assert task.name == name


def test_the_table():
    assert list(DATASETS) == NAMES
    assert DATASETS["photo"].raw_files == ("amazon_electronics_photo.npz",)


@pytest.mark.parametrize("name", ["digits", "planted-partition"])
def test_built_in(name):
    check(name, None)


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed", "computers", "photo", "cs"])
def test_benchmark(name, benchmark_data):
    check(name, benchmark_data)


def test_seed_and_random_split(benchmark_data):
    public = load_dataset("Cora", benchmark_data)
    random = load_dataset("CORA", benchmark_data, "random", 1)
    assert torch.equal(public.labels, random.labels)
    assert sizes(random.split) == [140, 210, 2358]
    one, same, other = (load_dataset("digits", seed=seed).split.train for seed in (0, 0, 1))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_a_split_is_taken_as_it_is():
    train, test = torch.zeros(2, 300, dtype=torch.bool)
    train[:5], test[5:] = True, True
    own = Split(train, torch.zeros_like(train), test)
    assert load_dataset("planted-partition", split=own).split is own


@pytest.mark.parametrize("name", TOY_GRAPHS)
def test_graphs_without_labels(name):
    assert load_graph(name.upper()).is_undirected()
    with pytest.raises(RequestError, match=rf"must have labels to make a task .*; got '{name}'"):
        load_dataset(name)


def test_a_file_of_ones_own(tmp_path):
    y, edges = np.array([0, 1, 0, 1]), np.array([[0], [1]])
    masks = {f"{part}_mask": np.arange(4) == i for i, part in enumerate(("train", "val", "test"))}
    np.savez(tmp_path / "Mine.npz", edge_index=edges, x=np.eye(4), y=y, **masks)
    task = load_dataset(tmp_path / "Mine.npz")
    assert (task.name, sizes(task.split), task.graph.num_edges) == ("Mine", [1, 1, 1], 1)
    assert load_dataset(str(tmp_path / "Mine.npz"), directed=False).graph.num_edges == 2


def test_a_file_without_masks(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=np.array([[0], [1]]), x=np.eye(2), y=np.array([0, 1]))
    with pytest.raises(RequestError, match="the graph has no 'train_mask'"):
        load_dataset(tmp_path / "g.npz")


def test_unknown_name():
    message = "'dataset' must be one of digits, cora, .*, star, or the path of an existing .*; got 'coral'"
    with pytest.raises(RequestError, match=message):
        load_dataset("coral")


def test_unknown_split():
    with pytest.raises(RequestError, match="'split' must be 'public', 'random' or a Split; got 'often'"):
        load_dataset("digits", split="often")


def test_a_graph_in_memory_needs_no_loading():
    graph = load_graph("planted-partition")
    with pytest.raises(RequestError, match=r"a Data goes to fit, or NodeTask.from_data, as it is\); got Data"):
        load_dataset(graph)
    assert repr(load_dataset("planted-partition")) == (
        "NodeTask('planted-partition', nodes=300, classes=3, train=60, validation=90, test=150)"
    )
