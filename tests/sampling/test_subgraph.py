import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mhaug.checks import RequestError
from mhaug.sampling.subgraph import Subgraph, UnitGraph
from sampling.tiny_graphs import tiny_graph


def test_an_undirected_unit_is_a_pair():
    graph = UnitGraph.from_edge_index(torch.tensor([[1, 0, 2, 1, 2, 2], [0, 1, 1, 2, 2, 1]]), 3)
    assert not graph.directed
    assert graph.unit_edges.tolist() == [[0, 1], [1, 2]]
    assert graph.unit_of_column.tolist() == [0, 0, 1, 1, 2, 1]  # 2: the self-loop is no unit
    kept = graph.column_kept(torch.tensor([[True, False]]))
    assert kept.tolist() == [[True, True, False, False, True, False]]


def test_a_directed_unit_is_a_column():
    graph = UnitGraph.from_edge_index(torch.tensor([[0, 1, 0, 0], [1, 1, 1, 2]]), 3)
    assert graph.directed
    assert graph.unit_edges.tolist() == [[0, 0, 0], [1, 1, 2]]
    assert graph.column_kept(torch.tensor([False, True, True])).tolist() == [False, True, True, True]


def test_node_numbers_may_be_short():
    """A pair's own number, u · V + v, is larger than an int32 holds."""
    edges, nodes = torch.tensor([[0, 99_999, 7], [99_999, 0, 7]]), 100_000
    long, short = (UnitGraph.from_edge_index(each, nodes) for each in (edges, edges.int()))
    assert short.unit_edges.tolist() == [[0], [99_999]]
    for name in ("unit_edges", "unit_of_column", "messages"):
        assert torch.equal(getattr(short, name), getattr(long, name))
        assert getattr(short, name).dtype == torch.long


def test_no_edges():
    graph = UnitGraph.from_edge_index(torch.empty(2, 0, dtype=torch.long), 3)
    assert graph.num_units == 0
    assert not graph.directed
    assert Subgraph(torch.ones(2, 0).bool(), torch.ones(2, 3).bool()).edge_change.tolist() == [0.0, 0.0]


def test_change_ratios():
    subgraph = Subgraph(torch.tensor([True, False, False, True]), torch.tensor([True, True, False]))
    assert float(subgraph.edge_change) == 0.5
    assert float(subgraph.node_change) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (torch.tensor([[0, 1], [1, 3]]), r"'edge_index' must be made of node numbers in 0..2; got 3"),
        (torch.tensor([[0, -1], [1, 1]]), r"got -1"),
        (torch.tensor([0, 1]), r"'edge_index' must be a tensor of whole numbers, \[2, edges\]; got \(2,\)"),
        (torch.tensor([[0.0], [1.0]]), r"whole numbers"),
        ([[0], [1]], r"got 'list'"),
    ],
)
def test_bad_edges(edges, words):
    with pytest.raises(RequestError, match=words):
        UnitGraph.from_edge_index(edges, 3)


edge_lists = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=15)


@given(edge_lists, st.booleans(), st.integers(0, 2**15 - 1))
def test_views_of_undirected_graphs_are_symmetric(pairs, symmetric, bits):
    """Whatever is dropped: an undirected graph stays undirected, and self-loops stay."""
    edge_index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T
    if symmetric:
        edge_index = torch.cat([edge_index, edge_index.flip(0)], 1)
    graph = UnitGraph.from_edge_index(edge_index, 6)
    kept = (torch.tensor(bits) >> torch.arange(graph.num_units)) % 2 == 1
    left = edge_index[:, graph.column_kept(kept)]
    loops = int((edge_index[0] == edge_index[1]).sum())
    assert int((left[0] == left[1]).sum()) == loops
    if not graph.directed:
        assert sorted(map(tuple, left.T.tolist())) == sorted(map(tuple, left.flip(0).T.tolist())) or not symmetric
        assert {tuple(e) for e in left.T.tolist()} == {tuple(e) for e in left.flip(0).T.tolist()}


def test_units_come_in_sorted_order():
    assert tiny_graph("triangle-with-tail").unit_edges.T.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3]]
