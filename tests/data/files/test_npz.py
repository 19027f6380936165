import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from mhaug.checks import RequestError
from mhaug.data.files import read_graph

EDGES = np.array([[0, 0, 1, 1], [1, 1, 0, 1]])


def sparse(name, matrix):
    matrix = csr_matrix(matrix)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    return {f"{name}_{part}": np.array(value) for part, value in parts.items()}


def test_every_key(tmp_path):
    mask = np.array([True, False, False])
    np.savez(
        tmp_path / "g.npz",
        edge_index=EDGES.astype(np.int32),
        x=np.eye(3),
        y=np.array([0, 1, -1]),
        edge_attr=np.ones((4, 2)),
        edge_weight=np.arange(4.0),
        train_mask=mask,
        val_mask=~mask,
        num_nodes=3,
        unrelated=np.zeros(1),
    )
    graph = read_graph(tmp_path / "g.npz")
    # the repeated edge, the self-loop and the isolated node 2 are still there
    assert graph.edge_index.tolist() == EDGES.tolist()
    assert graph.edge_index.dtype == torch.long
    assert graph.x.dtype == torch.float32
    assert (graph.num_nodes, graph.y.tolist(), graph.edge_attr.shape) == (3, [0, 1, -1], (4, 2))
    assert graph.edge_weight.tolist() == [0, 1, 2, 3]
    assert graph.train_mask.tolist() == [True, False, False]
    assert "unrelated" not in graph


def test_layout_of_the_benchmark_files(tmp_path):
    adjacency, features = np.array([[0, 1], [2, 0]]), np.array([[0.0, 3.0], [4.0, 0.0]])
    file = tmp_path / "g.npz"
    np.savez(file, **sparse("adj", adjacency), **sparse("attr", features), labels=np.array([1, 0]))
    graph = read_graph(file)
    assert graph.edge_index.tolist() == [[0, 1], [1, 0]]
    assert graph.edge_weight.tolist() == [1, 2]
    assert graph.x.tolist() == features.tolist()
    np.savez(file, **sparse("adj", adjacency > 0), attr_matrix=features)
    graph = read_graph(file)
    assert graph.x.tolist() == features.tolist()
    assert "edge_weight" not in graph


def test_labels_in_words(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=EDGES, x=np.eye(3), y=np.array(["b", "", "a"]))
    graph = read_graph(tmp_path / "g.npz")
    assert graph.y.tolist() == [1, -1, 0]
    assert graph.class_names == ["a", "b"]


def test_missing_key(tmp_path):
    np.savez(tmp_path / "g.npz", x=np.eye(3))
    with pytest.raises(RequestError, match=r"g.npz must have the key edge_index, or adj_data .*; got x$"):
        read_graph(tmp_path / "g.npz")


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 half a zip"])
def test_corrupted_file(tmp_path, content):
    (tmp_path / "g.npz").write_bytes(content)
    with pytest.raises(RequestError, match=r"g.npz must be an npz file of plain arrays; got ") as caught:
        read_graph(tmp_path / "g.npz")
    assert "\n" not in str(caught.value)
    # NumPy would say how to open it as a pickle
    assert str(caught.value).endswith("got another kind of file")


def test_pickled_array_is_refused(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=np.array([{}], dtype=object))
    with pytest.raises(
        RequestError, match=r"must be an npz file of plain arrays; got one with an array of Python objects"
    ):
        read_graph(tmp_path / "g.npz")


def test_arrays_that_do_not_fit_together(tmp_path):
    wrong = sparse("adj", np.eye(2)) | {"adj_indptr": np.array([0])}
    np.savez(tmp_path / "g.npz", **wrong)
    with pytest.raises(RequestError, match=r"g.npz must hold the arrays of one graph; got "):
        read_graph(tmp_path / "g.npz")
