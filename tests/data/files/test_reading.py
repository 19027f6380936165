import numpy as np
import pytest

from mhaug.checks import RequestError
from mhaug.data.files import read_graph

EDGE = np.array([[0, 1], [1, 2]])


def test_no_such_file(tmp_path):
    with pytest.raises(RequestError, match=r"'path' must be an existing file or folder; got '.*none.npz'"):
        read_graph(tmp_path / "none.npz")


def test_unknown_suffix(tmp_path):
    file = tmp_path / "graph.xlsx"
    file.write_text("")
    with pytest.raises(
        RequestError, match=r"graph.xlsx must end in one of .npz, .graphml, .pt, or be .*; got '.xlsx'"
    ):
        read_graph(file)


def test_npz_is_taken_as_it_is_unless_asked(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=EDGE)
    assert read_graph(tmp_path / "g.npz").num_edges == 2
    assert read_graph(str(tmp_path / "g.npz"), directed=False).num_edges == 4


def test_number_of_nodes_is_never_guessed(tmp_path, recwarn):
    np.savez(tmp_path / "edges.npz", edge_index=EDGE)
    np.savez(tmp_path / "labels.npz", edge_index=EDGE, y=np.zeros(5))
    np.savez(tmp_path / "none.npz", edge_index=np.zeros((2, 0), dtype=int))
    sizes = [read_graph(tmp_path / f"{name}.npz").num_nodes for name in ("edges", "labels", "none")]
    assert sizes == [3, 5, 0]
    assert not recwarn.list


def test_edge_out_of_range(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=EDGE, x=np.ones((2, 1)))
    with pytest.raises(RequestError, match=r"g.npz: edge_index' must be made of node numbers in 0..1; got 2"):
        read_graph(tmp_path / "g.npz")
