import numpy as np
import pytest
import torch

from mhaug.checks import RequestError
from mhaug.data.digits import _nearest, digits_graph


def test_nearest_by_hand():
    # cosines with row 0: 1.0 (row 1), 0.707 (row 2), 0 (row 3)
    images = np.array([[1.0, 0], [2, 0], [1, 1], [0, 3]])
    assert _nearest(images, 2).tolist() == [[1, 2], [0, 2], [0, 1], [2, 0]]


def test_digits():
    graph = digits_graph()
    assert (graph.num_nodes, graph.num_features, int(graph.y.max()) + 1) == (1797, 64, 10)
    assert float(graph.x.min()) == 0.0
    assert float(graph.x.max()) == 1.0
    assert graph.is_undirected()
    assert graph.is_coalesced()
    assert not graph.has_self_loops()
    assert torch.bincount(graph.edge_index[0]).min() >= 5
    assert 1797 * 5 <= graph.num_edges <= 1797 * 10


def test_neighbours_are_mostly_the_same_digit():
    graph = digits_graph()
    same = graph.y[graph.edge_index[0]] == graph.y[graph.edge_index[1]]
    assert same.float().mean() > 0.95


def test_the_same_every_time():
    assert torch.equal(digits_graph().edge_index, digits_graph().edge_index)


@pytest.mark.parametrize(("wrong", "rule"), [(0, "a whole number of at least 1"), (1797, "below 1797")])
def test_wrong_number_of_neighbours(wrong, rule):
    with pytest.raises(RequestError, match=f"'neighbours' must be {rule}; got {wrong}"):
        digits_graph(wrong)
