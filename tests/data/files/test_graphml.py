import networkx
import pytest

from mhaug.checks import RequestError
from mhaug.data.files import read_graph


def write(path, graph):
    networkx.write_graphml(graph, path / "g.graphml")
    return path / "g.graphml"


def example(kind):
    graph = kind()
    graph.add_node("a", label="red", split="train", height=1.5)
    graph.add_node("b", label="", split="", height=2)
    graph.add_node("c", label="blue", split="test", height=3)
    graph.add_edge("a", "b", weight=0.5)
    graph.add_edge("b", "b", weight=2.0)
    return graph


def test_undirected_gets_both_directions(tmp_path):
    graph = read_graph(write(tmp_path, example(networkx.Graph)))
    assert graph.edge_index.tolist() == [[0, 1, 1], [1, 1, 0]]
    assert graph.edge_weight.tolist() == [0.5, 2, 0.5]
    assert graph.x.tolist() == [[1.5], [2], [3]]
    assert (graph.y.tolist(), graph.class_names) == ([1, -1, 0], ["blue", "red"])
    assert graph.node_ids == ["a", "b", "c"]
    assert graph.train_mask.tolist() == [True, False, False]


def test_directed_stays_directed(tmp_path):
    path = write(tmp_path, example(networkx.DiGraph))
    assert read_graph(path).edge_index.tolist() == [[0, 1], [1, 1]]
    assert read_graph(path, directed=False).num_edges == 3


def test_parallel_edges(tmp_path):
    graph = example(networkx.MultiGraph)
    graph.add_edge("b", "a", weight=3.0)
    assert read_graph(write(tmp_path, graph)).num_edges == 5


def test_structure_alone(tmp_path):
    graph = read_graph(write(tmp_path, networkx.path_graph(3)))
    assert graph.x.tolist() == [[1], [1], [1]]
    assert graph.num_edges == 4


def test_attribute_that_is_no_number(tmp_path):
    graph = networkx.Graph()
    graph.add_node("a", colour="red")
    with pytest.raises(RequestError, match=r"g.graphml, node 'a': column 'colour' must be a number; got 'red'"):
        read_graph(write(tmp_path, graph))


def test_attribute_that_some_lack(tmp_path):
    graph = networkx.Graph([("a", "b"), ("b", "c")])
    graph.edges["a", "b"]["weight"] = 1.0
    with pytest.raises(RequestError, match=r"edge 'b' to 'c': column 'weight' must be a number; got ''"):
        read_graph(write(tmp_path, graph))


@pytest.mark.parametrize("content", ["", "<graphml", "<other/>"])
def test_corrupted_file(tmp_path, content):
    (tmp_path / "g.graphml").write_text(content)
    with pytest.raises(RequestError, match=r"g.graphml must be a GraphML file; got ") as caught:
        read_graph(tmp_path / "g.graphml")
    assert "\n" not in str(caught.value)
