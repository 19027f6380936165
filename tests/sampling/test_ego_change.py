import pytest
import torch

from mhaug.checks import RequestError
from mhaug.sampling.ego_change import ego_change, messages_of_whole_graph, messages_received
from mhaug.sampling.subgraph import UnitGraph
from sampling.tiny_graphs import tiny_graph

# A root (0) with three children (1, 2, 3), which have two (4, 5), two (6, 7) and one (8) children: Figure 2.
NEAR, FAR = [(0, 1), (0, 2), (0, 3)], [(1, 4), (1, 5), (2, 6), (2, 7), (3, 8)]


@pytest.fixture
def figure_2() -> UnitGraph:
    one_way = torch.tensor(NEAR + FAR).T
    return UnitGraph.from_edge_index(torch.cat([one_way, one_way.flip(0)], 1), 9)


def root_receives(graph: UnitGraph, dropped: list[tuple[int, int]]) -> int:
    units = [tuple(pair) for pair in graph.unit_edges.T.tolist()]
    kept = torch.tensor([unit not in dropped for unit in units])
    return int(messages_received(graph, 2, edge_kept=kept)[0])


def test_figure_2(figure_2):
    """15 messages; 13 when two far edges go (ratio 0.13), 6 when two near ones go (ratio 0.6)."""
    assert root_receives(figure_2, []) == 15
    assert root_receives(figure_2, [(1, 4), (3, 8)]) == 13
    assert root_receives(figure_2, [(0, 2), (0, 3)]) == 9 - 3 == 6
    ratios = ego_change(torch.tensor([13, 6]), torch.tensor([15, 15]))
    assert [round(float(ratio), 2) for ratio in ratios] == [0.13, 0.6]


def test_equals_powers_of_the_matrix(figure_2):
    adjacency = torch.eye(9)
    for u, v in NEAR + FAR:
        adjacency[u, v] = adjacency[v, u] = 1
    for hops in (1, 2, 3):
        expected = torch.linalg.matrix_power(adjacency, hops).sum(1).long()
        assert torch.equal(messages_received(figure_2, hops), expected)


def test_dropped_nodes_send_nothing_on_the_original_edges(figure_2):
    kept = torch.ones(9, dtype=torch.bool)
    kept[1] = False
    # Ã²: from node 1 the root gets one message through each of 0-0-1 and 0-1-1
    assert int(messages_received(figure_2, 2, node_kept=kept)[0]) == 15 - 2


def test_direction_self_loops_and_repeats():
    directed = tiny_graph("directed")  # 0->1, 1->2, 2->0, 0->2, 2->3
    assert messages_received(directed, 1).tolist() == [2, 2, 3, 2]
    looped = tiny_graph("self-loop-and-repeat")  # 0=1 twice, 1-2, and a loop at 2 that counts once
    assert messages_received(looped, 1).tolist() == [3, 4, 2]


def test_one_row_a_chain(figure_2):
    kept = torch.rand(5, figure_2.num_units, generator=torch.Generator().manual_seed(0)) < 0.5
    rows = torch.stack([messages_received(figure_2, 2, edge_kept=each) for each in kept])
    assert torch.equal(messages_received(figure_2, 2, edge_kept=kept), rows)


def test_numbers_that_would_not_be_exact_are_refused():
    complete = torch.cartesian_prod(torch.arange(40), torch.arange(40)).T
    graph = UnitGraph.from_edge_index(complete, 40)
    assert int(messages_of_whole_graph(graph, 9)[0]) == 40**9
    with pytest.raises(RequestError, match="'hops' must be small enough"):
        messages_of_whole_graph(graph, 10)
