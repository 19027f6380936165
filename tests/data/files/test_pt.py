import os

import pytest
import torch
from torch_geometric.data import Data

from mhaug.checks import RequestError
from mhaug.data.files import read_graph

EDGES = torch.tensor([[0, 1], [1, 2]])


class Command:
    """Runs a command when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("pwned",)


def save(path, content):
    torch.save(content, path / "g.pt")
    return path / "g.pt"


def test_a_data_object(tmp_path):
    data = Data(x=torch.eye(3), edge_index=EDGES, y=torch.tensor([0, 1, -1]), edge_attr=torch.ones(2, 1))
    data.class_names = ["a", "b"]
    graph = read_graph(save(tmp_path, data))
    assert graph.edge_index.tolist() == EDGES.tolist()
    assert graph.class_names == ["a", "b"]


def test_a_dict_of_tensors(tmp_path):
    graph = read_graph(save(tmp_path, {"edge_index": EDGES, "x": torch.eye(3)}))
    assert graph.num_nodes == 3


def test_missing_key(tmp_path):
    with pytest.raises(RequestError, match=r"g.pt must have the key edge_index; got x$"):
        read_graph(save(tmp_path, {"x": torch.eye(3)}))


def test_something_else(tmp_path):
    with pytest.raises(RequestError, match=r"g.pt must hold a PyG Data or a dict of tensors; got a list"):
        read_graph(save(tmp_path, [1, 2]))


def test_code_in_the_file_is_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = r"g.pt must hold .* and nothing that needs code to open; got a file that torch refuses"
    with pytest.raises(RequestError, match=message):
        read_graph(save(tmp_path, {"edge_index": Command()}))
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04 half a zip"])
def test_corrupted_file(tmp_path, content):
    (tmp_path / "g.pt").write_bytes(content)
    with pytest.raises(RequestError, match=r"g.pt must hold .*; got a file that torch refuses") as caught:
        read_graph(tmp_path / "g.pt")
    assert "\n" not in str(caught.value)
