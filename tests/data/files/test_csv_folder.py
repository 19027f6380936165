import pytest

from mhaug.checks import RequestError
from mhaug.data.files import read_graph

NODES = "id,label,split,height,weight\nann,red,train,1.5,0\nbob,,,2,1\ncy,blue,validation,3,2\ndi,red,TEST,4,3\n"
EDGES = "source,target,weight,years\nann,bob,0.5,1\nbob,cy,1,2\ncy,cy,2,3\n"


def folder(path, edges=EDGES, nodes=NODES):
    (path / "edges.csv").write_text(edges)
    if nodes is not None:
        (path / "nodes.csv").write_text(nodes)
    return path


def test_a_folder(tmp_path):
    graph = read_graph(folder(tmp_path))
    assert graph.edge_index.tolist() == [[0, 1, 2, 1, 2], [1, 2, 2, 0, 1]]
    assert graph.edge_weight.tolist() == [0.5, 1, 2, 0.5, 1]
    assert graph.edge_attr.tolist() == [[1], [2], [3], [1], [2]]
    assert graph.x.tolist() == [[1.5, 0], [2, 1], [3, 2], [4, 3]]
    assert graph.y.tolist() == [1, -1, 0, 1]
    assert (graph.class_names, graph.node_ids) == (["blue", "red"], ["ann", "bob", "cy", "di"])
    masks = [mask.nonzero().flatten().tolist() for mask in (graph.train_mask, graph.val_mask, graph.test_mask)]
    assert masks == [[0], [2], [3]]


def test_directed_as_listed(tmp_path):
    assert read_graph(folder(tmp_path), directed=True).num_edges == 3


def test_without_nodes(tmp_path):
    graph = read_graph(folder(tmp_path, "source,target\nb,a\na,c\n", None))
    assert graph.node_ids == ["b", "a", "c"]
    assert graph.x.tolist() == [[1], [1], [1]]
    assert "edge_weight" not in graph
    assert "y" not in graph


def test_nodes_without_edges(tmp_path):
    graph = read_graph(folder(tmp_path, "source,target\n", "id\na\nb\n"))
    assert (graph.num_nodes, graph.num_edges) == (2, 0)


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        ("from,to\n", NODES, r"edges.csv, line 1: the header must have the columns source, target.*; got 'from,to'"),
        (EDGES, "name\na\n", r"nodes.csv, line 1: the header must have the columns id.*; got 'name'"),
        (EDGES + "ann,eve,1,1\n", NODES, r"edges.csv, line 5: target must be an id of nodes.csv; got 'eve'"),
        (EDGES, NODES + "eve,red,,tall,1\n", r"nodes.csv, line 6: column 'height' must be a number; got 'tall'"),
        (EDGES, NODES + "eve,red,,,1\n", r"nodes.csv, line 6: column 'height' must be a number; got ''"),
        (
            EDGES,
            NODES + "eve,red,often,1,1\n",
            r"nodes.csv, line 6: column 'split' must be train.*; got 'often'",
        ),
        (EDGES, NODES + "ann,red,,1,1\n", r"nodes.csv, line 6: each id must be given once; got 'ann' again"),
        (EDGES, NODES + "eve\n", r"nodes.csv, line 6: must have 5 cells like the header; got 1"),
        (EDGES + "ann,bob,x,1\n", NODES, r"edges.csv, line 5: column 'weight' must be a number; got 'x'"),
        ("", NODES, r"edges.csv, line 1: the header must have"),
    ],
)
def test_malformed(tmp_path, edges, nodes, message):
    with pytest.raises(RequestError, match=message):
        read_graph(folder(tmp_path, edges, nodes))


def test_folder_without_edges(tmp_path):
    with pytest.raises(RequestError, match=r"must contain edges.csv, or graph.npz with x.npy; got neither"):
        read_graph(tmp_path)


def test_not_utf8(tmp_path):
    folder(tmp_path)
    (tmp_path / "edges.csv").write_bytes(b"source,target\n\xff,\xfe\n")
    with pytest.raises(RequestError, match=r"edges.csv must be a CSV file in UTF-8; got 'utf-8' codec"):
        read_graph(tmp_path)
