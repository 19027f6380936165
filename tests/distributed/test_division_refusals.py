"""Folders and words that do not suit: one line that says why."""

import json

import pytest

from distributed.cases import cliques
from distributed.test_division import SecondOfTwo, path_division
from mhaug import EgoTerm, MHAug
from mhaug.checks import RequestError
from mhaug.data.toy_graphs import path_graph
from mhaug.distributed.chain import PartitionedChain
from mhaug.distributed.folder import FACTS, file_name
from mhaug.distributed.partitioned import divide, partitioned_chain


@pytest.mark.parametrize(
    ("sampler", "options", "words"),
    [
        (MHAug(edges=EgoTerm(), hops=3), {}, "'hops' must be 2: the graph is divided for that; got 3"),
        (MHAug(nodes=EgoTerm()), {}, "'nodes' must be None: the graph is divided for edges alone"),
        (MHAug(edges=EgoTerm()), {"parts": 4}, "'parts' must be 3, or left out: the folder is divided into so many"),
    ],
)
def test_a_folder_that_does_not_suit(sampler, options, words, tmp_path):
    divide(cliques(), tmp_path / "division", parts=3, targets=("edges",))
    with pytest.raises(RequestError, match=words):
        partitioned_chain(sampler, tmp_path / "division", **options)


def test_a_folder_that_is_not_whole(tmp_path):
    sampler, folder = MHAug(edges=EgoTerm()), tmp_path / "division"
    with pytest.raises(RequestError, match=r"'folder' must be one that a division was written to; .*No such file"):
        partitioned_chain(sampler, folder)
    divide(cliques(), folder, parts=3)
    with pytest.raises(RequestError, match="'folder' must be a new or an empty folder; got"):
        divide(cliques(), folder, parts=3)
    piece = folder / file_name("edges", 0, 1)
    divide(path_graph(20), tmp_path / "other", parts=3)
    piece.write_bytes((tmp_path / "other" / piece.name).read_bytes())
    with pytest.raises(RequestError, match="'folder' must be of one division, and no file of another"):
        partitioned_chain(sampler, folder)
    piece.write_bytes(piece.read_bytes()[:100])
    with pytest.raises(RequestError, match=r"'folder' must be one .*edges\.layout0\.part1\.npz' does not fit"):
        partitioned_chain(sampler, folder)
    piece.unlink()
    with pytest.raises(RequestError, match=r"edges\.layout0\.part1\.npz' does not fit \(No such file"):
        partitioned_chain(sampler, folder)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"format": 2}, "'folder' must be of a division of format 1; got 2"),
        ({"format": 2, "facts": {"colour": "red"}}, "'folder' must be of a division of format 1; got 2"),
        ({"format": None}, r"division\.json' does not fit \('format'\)"),
        ({"name": None}, r"division\.json' does not fit \('name'\)"),
        ({"facts": {"targets": []}}, r"division\.json' does not fit \('list' object has no attribute 'items'\)"),
        ({"facts": {"colour": "red"}}, r"division\.json' does not fit \(.*unexpected keyword argument 'colour'\)"),
        ({"facts": {"parts": 5}}, r"division\.json' does not fit \(5 parts, and edges owned by 3\)"),
    ],
)
def test_facts_that_are_none(changes, words, tmp_path):
    """`division.json` with some entries changed; None: without the entry."""
    path = divide(cliques(), tmp_path / "division", parts=3, targets=("edges",)).path / FACTS
    head = json.loads(path.read_text())
    facts = {**head["facts"], **changes.get("facts", {})}
    changed = {**head, **changes, "facts": facts}
    path.write_text(json.dumps({name: value for name, value in changed.items() if value is not None}))
    with pytest.raises(RequestError, match=words):
        partitioned_chain(MHAug(edges=EgoTerm()), tmp_path / "division")


@pytest.mark.parametrize("text", ["{}", "[]", "3", "", "{"])
def test_a_file_of_facts_that_is_something_else(text, tmp_path):
    (tmp_path / FACTS).write_text(text)
    with pytest.raises(RequestError, match=r"division\.json' does not fit"):
        partitioned_chain(MHAug(edges=EgoTerm()), tmp_path)


def test_the_current_folder_is_not_replaced(tmp_path, monkeypatch):
    """An empty one may be given by name; one that one stands in would be gone, and another in its place."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    for name in (".", "../empty", "new/.."):
        with pytest.raises(RequestError, match="'folder' must be another than the current one, which it replaces"):
            divide(cliques(), name, parts=3)
    assert not any((tmp_path / "empty").iterdir())
    monkeypatch.chdir(tmp_path)
    divide(cliques(), "empty", parts=3)
    assert (tmp_path / "empty" / FACTS).exists()


def test_bad_words_for_a_division(tmp_path):
    for words, line in (
        ({"parts": 0}, "'parts' must be a whole number of at least 1"),
        ({"parts": 2, "hops": 0}, "'hops' must be a whole number of at least 1"),
        ({"parts": 2, "targets": ("faces",)}, "'targets' must be one of edges, nodes; got 'faces'"),
        ({"parts": 2, "targets": ()}, "'targets' must be one or both of edges, nodes"),
    ):
        with pytest.raises(RequestError, match=line):
            divide(cliques(), tmp_path / "division", **words)
    with pytest.raises(RequestError, match="'parts' must be given: only a folder says how many there are; got None"):
        partitioned_chain(MHAug(edges=EgoTerm()), cliques())


def test_ranks_with_folders_of_different_divisions(tmp_path):
    """What rank 0 has is another word than what this rank has."""

    class Other(SecondOfTwo):
        def bytes_from_first(self, content):
            return b"another"

    divide(cliques(), tmp_path / "division", parts=3)
    with pytest.raises(RequestError, match="'folder' must be of the division that rank 0 has; got"):
        partitioned_chain(MHAug(edges=EgoTerm()), tmp_path / "division", world=Other(1, 2))


def test_a_division_is_of_one_chain_and_no_other():
    """The control of the class: it asks for what the facts promise."""
    with pytest.raises(RequestError, match="'hops' must be 1"):
        PartitionedChain(MHAug(edges=EgoTerm(), hops=2), path_division(), seed=0)
