import copy

import pytest
import torch
from torch_geometric.data import Data

from mhaug.checks import RequestError
from mhaug.data.task import NodeTask, Split


def mask(*nodes, size=4):
    return torch.tensor([node in nodes for node in range(size)])


def square(**changes):
    """Four nodes in a ring, two classes, one node of unknown label."""
    fields = {
        "x": torch.eye(4),
        "edge_index": torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]),
        "y": torch.tensor([0, 1, 0, -1]),
        "train_mask": mask(0),
        "val_mask": mask(1),
        "test_mask": mask(2),
    }
    return Data(**{key: value for key, value in (fields | changes).items() if value is not None})


def test_masks_become_the_split_and_leave_the_graph():
    data = square(edge_attr=torch.arange(4.0))
    task = NodeTask.from_data(data, name="square")
    assert task.split.train.tolist() == [True, False, False, False]
    assert (task.num_nodes, task.num_classes, task.name) == (4, 2, "square")
    assert sorted(task.graph.keys()) == ["edge_attr", "edge_index", "x"]


def test_the_data_handed_in_is_not_changed():
    data = square(x=torch.eye(4, dtype=torch.long))
    before = copy.deepcopy(data)
    task = NodeTask.from_data(data).to("cpu")
    assert task.graph.x.dtype == torch.float32
    assert data.keys() == before.keys()
    assert data.x.dtype == torch.long
    assert torch.equal(data.y, before.y)


def test_to_moves_a_copy():
    task = NodeTask.from_data(square())
    moved = task.to("cpu")
    assert moved.graph is not task.graph
    assert torch.equal(moved.labels, task.labels)


@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_sparse_features():
    task = NodeTask.from_data(square(x=torch.eye(4).to_sparse_csr()))
    assert task.graph.x.layout == torch.sparse_csr
    bad = torch.diag(torch.tensor([1.0, float("inf"), 1.0, 1.0])).to_sparse_csr()
    with pytest.raises(RequestError, match="'x' must be finite everywhere; got '1 values"):
        NodeTask.from_data(square(x=bad))


def test_nan_labels_are_unknown():
    task = NodeTask.from_data(square(y=torch.tensor([0.0, 1.0, 0.0, float("nan")])))
    assert task.labels.tolist() == [0, 1, 0, -1]


def test_a_split_of_ones_own_and_a_random_one():
    own = Split(mask(2), mask(), mask(0, 1))
    assert NodeTask.from_data(square(), split=own).split is own
    big = Data(x=torch.ones(120, 1), edge_index=torch.zeros(2, 0, dtype=torch.long), y=torch.arange(120) % 2)
    split = NodeTask.from_data(big, split="random", seed=1).split
    assert [int(part.sum()) for part in (split.train, split.validation, split.test)] == [40, 60, 20]


NAN = torch.eye(4).index_fill(0, torch.tensor([2]), float("nan"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": None}, r"the graph has no features: 'x' must be a tensor \[nodes, features\]; got None"),
        ({"x": torch.ones(4)}, r"'x' must be floats \[nodes, features\], dense or sparse CSR; got .*\(4,\)"),
        ({"x": NAN}, "'x' must be finite everywhere; got '4 values that are NaN or infinite'"),
        ({"y": None}, "the graph has no labels: 'y' must be a tensor with one class number a node; got None"),
        ({"y": torch.tensor([0, 1, 0])}, r"'labels' must be a tensor of shape \(4,\); got \(3,\)"),
        ({"y": torch.tensor([0, 1, -2, 0])}, r"'labels' must be class numbers in 0..1, or -1 where unknown; got -2"),
        ({"y": torch.tensor([0, 1, -1, 0])}, "'split.test' must be made of nodes whose label is known; got '1 nodes"),
        ({"y": torch.zeros(4)}, "'num_classes' must be a whole number of at least 2; got 1"),
        ({"edge_index": torch.tensor([[0], [4]])}, "'edge_index' must be made of node numbers in 0..3; got 4"),
        ({"edge_index": torch.tensor([[0], [-1]])}, "'edge_index' must be made of node numbers in 0..3; got -1"),
        ({"edge_index": None}, r"'edge_index' must be a tensor of whole numbers, \[2, edges\]; got 'NoneType'"),
        ({"train_mask": mask(0, 1)}, "'train' and 'validation' must not overlap; got 1 nodes that are in both"),
        ({"train_mask": mask()}, "'train' must be a mask with at least one node; got 'an empty mask'"),
        ({"train_mask": mask(0)[:, None]}, r"of several splits in columns choose one, such as train_mask\[:, 0\]"),
        ({"val_mask": mask(1, size=5)}, r"'val_mask' must be a tensor of shape \(4,\); got \(5,\)"),
    ],
)
def test_wrong_graphs(changes, message):
    with pytest.raises(RequestError, match=message):
        NodeTask.from_data(square(**changes))


def test_masks_of_the_wrong_length():
    split = Split(mask(0, size=5), mask(1, size=5), mask(2, size=5))
    with pytest.raises(RequestError, match=r"'split.train' must be a tensor of shape \(4,\); got \(5,\)"):
        NodeTask.from_data(square(), split=split)


def test_label_above_the_number_of_classes():
    with pytest.raises(RequestError, match=r"'labels' must be class numbers in 0..1, or -1 where unknown; got 2"):
        NodeTask.from_data(square(y=torch.tensor([0, 2, 0, -1])), num_classes=2)


def test_unknown_word_for_the_split():
    with pytest.raises(RequestError, match=r"'split' must be a Split, 'random', or None .*; got 'often'"):
        NodeTask.from_data(square(), split="often")


def test_graph_without_edges():
    task = NodeTask.from_data(square(edge_index=torch.zeros(2, 0, dtype=torch.long)))
    assert task.graph.num_edges == 0
