"""A graph divided once: what is written, what is read, what a rank opens and what it keeps."""

import gc
import weakref

import numpy as np
import pytest
import torch

from distributed.cases import chain_on_cliques, clique_sampler, cliques
from mhaug import EgoTerm, MHAug
from mhaug.data.toy_graphs import path_graph
from mhaug.distributed.division import Cutting, divided
from mhaug.distributed.folder import Folder, open_folder, write
from mhaug.distributed.layout import Layout
from mhaug.distributed.partitioned import chain_on, divide, partitioned_chain
from mhaug.distributed.world import World
from mhaug.sampling.subgraph import UnitGraph


class SecondOfTwo(World):
    """Rank 1, as far as it gets without the other."""

    def _collective(self, name, values, **options):
        return values

    def bytes_from_first(self, content):
        return content


def graph_of(data):
    return UnitGraph.from_edge_index(data.edge_index, data.num_nodes)


def path_division():
    """Nodes 0..3 and 4..6 of the path 0-1-2-3-4-5-6, one hop."""
    owner, last = torch.tensor([0, 0, 0, 0, 1, 1, 1]), torch.tensor([-1, -1, -1, 0, 0, -1, -1])
    first = Layout(2, owner, torch.tensor([0, 0, 0, -1, 1, 1]))
    return Cutting(
        graph_of(path_graph(7)), 1, {"edges": [first, Layout(2, last, torch.tensor([-1, -1, -1, 0, -1, -1]))]}
    )


def arrays_of(share):
    piece = share.piece
    arrays = (piece.nodes, piece.own, piece.units, share.original, share.owned)
    return [*arrays, piece.graph.messages.numpy(), piece.graph.unit_edges.numpy(), np.array(piece.movable)]


def test_a_division_by_hand():
    """Part 1 moves 4-5 and 5-6, and needs 3-4 as well; part 0 moves 0-1, 1-2, 2-3. The edge 3-4 has its turn last."""
    division = path_division()
    facts = division.facts.targets["edges"]
    assert (facts.owned, facts.turns) == ((4, 2), ((0, 1), (0,)))
    share = division.share("edges", 0, 1)
    assert share.piece.nodes.tolist() == [3, 4, 5, 6]
    assert share.piece.own.tolist() == [False, True, True, True]
    assert (share.piece.units.tolist(), share.piece.movable) == ([4, 5, 3], 2)
    assert share.original.tolist() == [3, 3, 3, 2]  # one of its own, and one from each neighbour
    assert share.owned.tolist() == [4, 5]
    last = division.share("edges", 1, 0)
    assert (last.piece.units[: last.piece.movable].tolist(), last.owned.tolist()) == ([3], [])


@pytest.mark.parametrize("data", [path_graph(9), cliques()], ids=["path", "cliques"])
def test_what_is_read_is_what_was_written(data, tmp_path):
    division = divided(graph_of(data), parts=3, hops=2, targets=("edges", "nodes"))
    write(division, tmp_path / "division")
    folder = open_folder(tmp_path / "division")
    assert folder.facts == division.facts
    for part, facts in division.facts.targets.items():
        for turn, numbers in enumerate(facts.turns):
            for number in numbers:
                both = (arrays_of(source.share(part, turn, number)) for source in (division, folder))
                for mine, theirs in zip(*both, strict=True):
                    assert mine.dtype == theirs.dtype
                    assert np.array_equal(mine, theirs)


def test_numbers_above_32_bits_are_kept(tmp_path):
    """A star of 3,000 leaves: in six hops the hub receives some 3,000³ messages."""
    leaves = torch.arange(1, 3001)
    edge_index = torch.stack([torch.zeros_like(leaves), leaves])
    graph = UnitGraph.from_edge_index(torch.cat([edge_index, edge_index.flip(0)], 1), 3001)
    division = divided(graph, parts=1, hops=6, targets=("nodes",))
    original = write(division, tmp_path / "division").share("nodes", 0, 0).original
    assert original.max() > 2**31
    assert np.array_equal(original, division.share("nodes", 0, 0).original)


def test_a_chain_from_a_folder_walks_the_same_states(tmp_path):
    divide(cliques(), tmp_path / "division", parts=3)
    chain, other = chain_on_cliques(World.alone()), partitioned_chain(clique_sampler(), tmp_path / "division")
    for each in (chain, other):
        each.step(rounds=4)
    for part in ("edges", "nodes"):
        assert torch.equal(chain.kept(part), other.kept(part))
    assert chain.log_prob() == other.log_prob()
    # a folder for both serves edges alone
    alone = [
        partitioned_chain(MHAug(edges=EgoTerm()), source, parts=3) for source in (cliques(), tmp_path / "division")
    ]
    for each in alone:
        each.step(rounds=2)
    assert torch.equal(alone[0].kept("edges"), alone[1].kept("edges"))


def test_a_rank_opens_only_its_own_files(tmp_path, monkeypatch):
    """Parts are dealt out in turn: rank 1 of two has part 1 of three, and no file but those and the facts."""
    opened = []
    divide(cliques(), tmp_path / "division", parts=3)
    for path in (tmp_path / "division").glob("*.part[02].npz"):
        path.unlink()
    share = Folder.share
    monkeypatch.setattr(Folder, "share", lambda *words: opened.append(words[1:]) or share(*words))
    partitioned_chain(clique_sampler(), tmp_path / "division", world=SecondOfTwo(1, 2))
    assert {number for _, _, number in opened} == {1}
    assert {(part, turn) for part, turn, _ in opened} >= {("edges", 0), ("nodes", 0)}


def test_a_chain_keeps_nothing_of_the_graph_it_was_cut_from():
    graph = graph_of(cliques())
    gone = [weakref.ref(each) for each in (graph, graph.messages, graph.unit_edges)]
    chain = chain_on(clique_sampler(), graph, parts=3)
    del graph
    gc.collect()
    assert [each() for each in gone] == [None, None, None]
    chain.step()


def test_a_kill_leaves_no_folder(tmp_path, monkeypatch):
    def killed(*words):
        raise KeyboardInterrupt

    monkeypatch.setattr(Cutting, "share", killed)
    with pytest.raises(KeyboardInterrupt):
        divide(cliques(), tmp_path / "division", parts=3)
    assert list(tmp_path.iterdir()) == []
