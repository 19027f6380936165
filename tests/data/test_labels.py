import pytest
import torch

from mhaug.checks import RequestError
from mhaug.data.labels import clean_labels, number_labels


def test_nan_means_unknown():
    assert clean_labels(torch.tensor([1.0, float("nan"), 0.0])).tolist() == [1, -1, 0]


def test_one_column_is_flattened_and_the_argument_is_not_shared():
    y = torch.tensor([[2], [0]])
    labels = clean_labels(y)
    labels[0] = 7
    assert y.tolist() == [[2], [0]]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "the graph has no labels: 'y' must be a tensor with one class number a node; got None"),
        (torch.zeros(3, 2), r"'y' must be a tensor with one class number a node; got \(3, 2\)"),
        (torch.tensor([0.5]), "'y' must be whole numbers, or NaN where unknown; got 0.5"),
    ],
)
def test_wrong_labels(y, message):
    with pytest.raises(RequestError, match=message):
        clean_labels(y)


def test_words_are_numbered_in_sorted_order():
    labels, names = number_labels(["dog", "", "cat", "dog"])
    assert labels.tolist() == [1, -1, 0, 1]
    assert names == ["cat", "dog"]


def test_words_that_are_numbers_keep_their_number():
    labels, names = number_labels(["10", "2", ""])
    assert labels.tolist() == [10, 2, -1]
    assert names is None
