import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from mhaug.checks import RequestError
from mhaug.data.splits import Split, per_class_split, public_split


def mask(*nodes, size=4):
    return torch.tensor([node in nodes for node in range(size)])


def indices(split):
    return [part.nonzero().flatten().tolist() for part in (split.train, split.validation, split.test)]


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ((mask(0, 1), mask(0, 1, 2), mask(3)), "'train' and 'validation' must not overlap; got 2 nodes"),
        ((mask(0), mask(1), mask(1)), "'validation' and 'test' must not overlap; got 1 nodes that are in both"),
        ((mask(), mask(1), mask(2)), "'train' must be a mask with at least one node; got 'an empty mask'"),
        ((mask(0).long(), mask(1), mask(2)), "'train' must be a tensor of torch.bool; got 'a tensor of torch.int64'"),
        ((mask(0), mask(1), mask(2, size=5)), r"'test' must be a tensor of shape \(4,\); got \(5,\)"),
        ((mask(0)[:, None], mask(1), mask(2)), r"'train' must be one mask .* choose one, such as train\[:, 0\]"),
    ],
)
def test_wrong_masks(masks, message):
    with pytest.raises(RequestError, match=message):
        Split(*masks)


def test_public_split_takes_the_masks_as_they_are():
    data = Data(train_mask=mask(0), val_mask=mask(1), test_mask=mask(2))
    assert indices(public_split(data)) == [[0], [1], [2]]


def test_public_split_tests_on_the_rest_of_the_known():
    y = torch.tensor([0, 1, 0, -1])
    assert indices(public_split(Data(y=y, train_mask=mask(0)))) == [[0], [], [1, 2]]
    assert indices(public_split(Data(y=y, train_mask=mask(0), val_mask=mask(1)))) == [[0], [1], [2]]


def test_public_split_needs_masks():
    with pytest.raises(RequestError, match=r"no 'train_mask': split must be 'random' \(--split random\), a Split"):
        public_split(Data(y=torch.tensor([0, 1])))


def test_a_mask_is_compared_with_the_nodes_not_with_another_mask():
    y = torch.tensor([0, 1, 0, 1])
    with pytest.raises(RequestError, match=r"'train_mask' must be a tensor of shape \(4,\); got \(3,\)"):
        public_split(Data(y=y, train_mask=mask(0, size=3), val_mask=mask(1)))
    with pytest.raises(RequestError, match=r"'test_mask' must be a tensor of shape \(4,\); got \(5,\)"):
        public_split(Data(y=y, train_mask=mask(0), test_mask=mask(1, size=5)))


def test_public_split_of_several_columns():
    with pytest.raises(RequestError, match=r"such as train_mask\[:, 0\]; got \(4, 10\)"):
        public_split(Data(train_mask=torch.ones(4, 10, dtype=torch.bool)))


def test_same_seed_same_split_on_every_machine():
    split = per_class_split(torch.tensor([0, 1] * 5), train=1, validation=2, seed=3)
    assert indices(split) == [[6, 9], [0, 3, 4, 5], [1, 2, 7, 8]]


def test_unknown_nodes_are_in_no_set():
    split = per_class_split(torch.tensor([0, 0, -1, 1, 1]), train=1, validation=0)
    assert [len(part) for part in indices(split)] == [2, 0, 2]
    assert not (split.train | split.test)[2]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            [0, 0, 0, 1],
            r"class 1 must have at least 3 nodes \(1 to train on, 1 to validate on, 1 to test on\); got 1",
        ),
        ([0, 0, 0, 2, 2, 2], "classes must be numbered 0, 1, 2, ... without gaps; got no node of class 1"),
        ([-1, -1], "'labels' must be known for at least one node; got 'no known label'"),
    ],
)
def test_classes_that_are_too_small(labels, message):
    with pytest.raises(RequestError, match=message):
        per_class_split(torch.tensor(labels), train=1, validation=1)


@given(
    counts=st.lists(st.integers(4, 12), min_size=1, max_size=4),
    unknown=st.integers(0, 5),
    train=st.integers(1, 2),
    validation=st.integers(0, 1),
    seed=st.integers(0, 1000),
)
def test_every_class_gives_its_share(counts, unknown, train, validation, seed):
    labels = torch.tensor([number for number, count in enumerate(counts) for _ in range(count)] + [-1] * unknown)
    split = per_class_split(labels, train=train, validation=validation, seed=seed)
    for number, count in enumerate(counts):
        members = labels == number
        sizes = [int((part & members).sum()) for part in (split.train, split.validation, split.test)]
        assert sizes == [train, validation, count - train - validation]
    assert not (split.train | split.validation | split.test)[labels == -1].any()


def test_seeds_differ():
    labels = torch.zeros(100, dtype=torch.long)
    splits = [per_class_split(labels, seed=seed).train for seed in range(5)]
    assert all(not torch.equal(splits[0], other) for other in splits[1:])
