import torch
from hypothesis import given
from hypothesis import strategies as st
from torch_geometric.data import Data

from mhaug.data.files.both_directions import add_missing_reverses

NODE = st.integers(0, 3)


def graph(*pairs, **fields):
    return Data(edge_index=torch.tensor(pairs).view(-1, 2).T, num_nodes=4, **fields)


def pairs(data):
    return [tuple(pair) for pair in data.edge_index.T.tolist()]


def test_only_what_is_missing_is_added_and_added_last():
    listed = graph((0, 1), (1, 2), (2, 1), (3, 3), edge_weight=torch.tensor([1.0, 2.0, 3.0, 4.0]))
    both = add_missing_reverses(listed)
    assert pairs(both) == [(0, 1), (1, 2), (2, 1), (3, 3), (1, 0)]
    assert both.edge_weight.tolist() == [1, 2, 3, 4, 1]
    assert listed.num_edges == 4


def test_repeated_edges_stay_repeated():
    assert pairs(add_missing_reverses(graph((0, 1), (0, 1), (1, 0)))) == [(0, 1), (0, 1), (1, 0), (1, 0)]


def test_no_edges():
    assert add_missing_reverses(graph()).num_edges == 0


@given(st.lists(st.tuples(NODE, NODE), max_size=12))
def test_the_result_is_symmetric_and_stays_so(edges):
    both = add_missing_reverses(graph(*edges))
    found = pairs(both)
    assert found[: len(edges)] == edges
    assert all(found.count((u, v)) == found.count((v, u)) for u, v in found)
    assert pairs(add_missing_reverses(both)) == found
