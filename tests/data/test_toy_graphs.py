import pytest
import torch
from torch_geometric.utils import degree

from mhaug.checks import RequestError
from mhaug.data import toy_graphs
from mhaug.data.splits import per_class_split


def test_path():
    graph = toy_graphs.path_graph(3)
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert graph.x.tolist() == [[1.0], [1.0], [1.0]]
    assert graph.y is None


def test_grid():
    graph = toy_graphs.grid_graph(2, 3)
    assert graph.num_nodes == 6
    assert graph.num_edges == 2 * 7
    assert degree(graph.edge_index[0]).tolist() == [2, 3, 2, 2, 3, 2]


def test_complete():
    graph = toy_graphs.complete_graph(4)
    assert graph.num_edges == 12
    assert not graph.has_self_loops()


def test_star():
    graph = toy_graphs.star_graph(3)
    assert degree(graph.edge_index[0]).tolist() == [3, 1, 1, 1]


@pytest.mark.parametrize("make", [toy_graphs.path_graph, toy_graphs.complete_graph])
def test_one_node_is_a_graph(make):
    graph = make(1)
    assert (graph.num_nodes, graph.num_edges) == (1, 0)


@pytest.mark.parametrize(
    "graph", [toy_graphs.path_graph(5), toy_graphs.grid_graph(3, 3), toy_graphs.planted_partition()]
)
def test_both_directions_in_order_without_repeats(graph):
    assert graph.is_undirected()
    assert graph.is_coalesced()


def test_planted_partition_of_certainty_is_cliques():
    graph = toy_graphs.planted_partition(2, 3, p_in=1.0, p_out=0.0, features=2)
    assert graph.y.tolist() == [0, 0, 0, 1, 1, 1]
    assert graph.num_edges == 2 * 2 * 3
    assert torch.equal(graph.y[graph.edge_index[0]], graph.y[graph.edge_index[1]])


def test_planted_partition_is_easier_with_the_graph_than_without():
    graph = toy_graphs.planted_partition(seed=1)
    split = per_class_split(graph.y)
    adjacency = torch.eye(graph.num_nodes)
    adjacency[tuple(graph.edge_index)] = 1.0
    smooth = adjacency / adjacency.sum(1, keepdim=True)

    def accuracy(x):
        centres = torch.stack([x[split.train & (graph.y == c)].mean(0) for c in range(3)])
        found = torch.cdist(x, centres).argmin(1)
        return float((found == graph.y)[split.test].float().mean())

    assert 0.5 < accuracy(graph.x) < accuracy(smooth @ graph.x)
    assert accuracy(smooth @ graph.x) > 0.9


def test_same_seed_same_graph():
    one, same, other = (toy_graphs.planted_partition(seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one.x, same.x)
    assert torch.equal(one.edge_index, same.edge_index)
    assert one.edge_index.shape != other.edge_index.shape or not torch.equal(one.edge_index, other.edge_index)


def test_wrong_sizes():
    with pytest.raises(RequestError, match="'n' must be a whole number of at least 1; got 0"):
        toy_graphs.path_graph(0)
    with pytest.raises(RequestError, match=r"'p_in' must be a number in \[0, 1\]; got 2"):
        toy_graphs.planted_partition(p_in=2)
