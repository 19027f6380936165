"""Parts, footprints, halos, layouts and pieces, on graphs small enough to see."""

import sys

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import breadth_first_order

from distributed.cases import cliques
from mhaug import EgoTerm, MHAug
from mhaug.checks import RequestError
from mhaug.data.toy_graphs import grid_graph, path_graph, star_graph
from mhaug.distributed.layout import cover
from mhaug.distributed.node_parts import _adjacency, _breadth_first, islands, node_parts
from mhaug.distributed.partitioned import partitioned_chain
from mhaug.distributed.piece import cut
from mhaug.distributed.reach import footprint, halo, interior
from mhaug.sampling.ego_change import messages_received
from mhaug.sampling.subgraph import UnitGraph


def graph_of(data, directed=None):
    return UnitGraph.from_edge_index(data.edge_index, data.num_nodes, directed=directed)


def mask(size, *numbers):
    return torch.zeros(size, dtype=torch.bool).index_fill(0, torch.tensor(numbers), True)


def test_reach_by_hand():
    """A path 0-1-2-3-4-5-6: the edge 2-3 is felt at 2, 3 in one hop, at 1..4 in two."""
    graph = graph_of(path_graph(7))
    assert footprint(graph, mask(6, 2), 1, "edges").nonzero().flatten().tolist() == [2, 3]
    assert footprint(graph, mask(6, 2), 2, "edges").nonzero().flatten().tolist() == [1, 2, 3, 4]
    assert footprint(graph, mask(7, 3), 1, "nodes").nonzero().flatten().tolist() == [2, 3, 4]
    assert halo(graph, mask(7, 0, 1), 2).nonzero().flatten().tolist() == [0, 1, 2, 3]
    owner = torch.tensor([0, 0, 0, 1, 1, 1, 1])
    assert interior(graph, owner, 1, "edges").tolist() == [0, 0, -1, 1, 1, 1]
    assert interior(graph, owner, 2, "edges").tolist() == [0, -1, -1, -1, 1, 1]
    assert interior(graph, owner, 1, "nodes").tolist() == [0, 0, -1, -1, 1, 1, 1]


def test_messages_have_a_direction():
    """0 -> 1 -> 2: a change of the first edge is felt downstream only, and fed from upstream only."""
    graph = UnitGraph.from_edge_index(torch.tensor([[0, 1], [1, 2]]), 3, directed=True)
    assert footprint(graph, mask(2, 0), 2, "edges").tolist() == [False, True, True]
    assert halo(graph, mask(3, 1), 1).tolist() == [True, True, False]


def test_islands():
    graph = graph_of(path_graph(7))
    numbers = islands(graph, mask(7, 0, 1, 3, 4, 6)).tolist()
    assert numbers[2] == numbers[5] == -1
    assert numbers[0] == numbers[1] != numbers[3] == numbers[4] != numbers[6]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), min_size=1, max_size=24),
    st.lists(st.integers(0, 2), min_size=12, max_size=12),
    st.integers(1, 3),
    st.booleans(),
    st.sampled_from(["edges", "nodes"]),
)
def test_every_unit_has_one_turn_and_footprints_of_a_turn_never_meet(pairs, owner, hops, directed, part):
    edge_index = torch.tensor(pairs).T
    edge_index = edge_index if directed else torch.cat([edge_index, edge_index.flip(0)], 1)
    graph = UnitGraph.from_edge_index(edge_index, 12, directed=directed)
    layouts = cover(graph, torch.tensor(owner), 3, hops, part)
    turns = torch.stack([layout.movable for layout in layouts]).sum(0)
    assert bool((turns == 1).all())
    for layout in layouts:
        felt = [footprint(graph, layout.mover == number, hops, part) for number in range(3)]
        assert int(torch.stack(felt).sum(0).max()) <= 1


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3), st.booleans())
def test_a_piece_counts_messages_as_the_whole_graph_does(seed, hops, directed):
    rng = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(14, (2, 26), generator=rng)
    edge_index = edge_index if directed else torch.cat([edge_index, edge_index.flip(0)], 1)
    graph = UnitGraph.from_edge_index(edge_index, 14, directed=directed)
    kept, own = torch.rand(graph.num_units, generator=rng) < 0.6, torch.rand(14, generator=rng) < 0.3
    movable = interior(graph, own.long() - 1, hops, "edges") >= 0
    piece = cut(graph, own, movable, hops, "edges")
    nodes, units = torch.from_numpy(piece.nodes), torch.from_numpy(piece.units)
    for level in range(1, hops + 1):
        here = messages_received(piece.graph, level, edge_kept=kept[units])
        there = messages_received(graph, level, edge_kept=kept)[nodes]
        assert torch.equal(here[torch.from_numpy(piece.own)], there[torch.from_numpy(piece.own)])
    assert torch.equal(units[: piece.movable].sort().values, movable.nonzero().squeeze(1))


@pytest.mark.parametrize("with_metis", [True, False])
def test_parts_are_even_and_cuts_keep_away_from_what_is_to_be_avoided(with_metis, monkeypatch):
    if not with_metis:
        monkeypatch.setitem(sys.modules, "pymetis", None)
    graph = graph_of(grid_graph(4, 24))
    with pytest.warns(RuntimeWarning, match="pymetis is not installed") if not with_metis else monkeypatch.context():
        first = node_parts(graph, 2)
        left = interior(graph, first, 2, "edges") < 0
        second = node_parts(graph, 2, avoid=footprint(graph, left, 2, "edges"))
    assert first.bincount().tolist() == [48, 48]
    assert int((first[graph.unit_edges[0]] != first[graph.unit_edges[1]]).sum()) <= 8
    assert bool((interior(graph, second, 2, "edges")[left] >= 0).all())


def test_without_metis_all_components_are_one_search(monkeypatch):
    """Two paths, 0-2-4 and 1-3-5, and node 6 alone: each in its own order, one after another."""
    searches = []

    def search(*words, **options):
        searches.append(words)
        return breadth_first_order(*words, **options)

    monkeypatch.setattr("mhaug.distributed.node_parts.breadth_first_order", search)
    edge_index = torch.tensor([[0, 2, 1, 3], [2, 4, 3, 5]])
    matrix = _adjacency(UnitGraph.from_edge_index(torch.cat([edge_index, edge_index.flip(0)], 1), 7))
    assert _breadth_first(matrix).tolist() == [0, 2, 4, 1, 3, 5, 6]
    assert len(searches) == 1


@pytest.mark.parametrize("data", [path_graph(9), star_graph(10), grid_graph(3, 4)], ids=["path", "star", "grid"])
def test_as_many_parts_as_nodes(data):
    """METIS then leaves parts without a node. The law is that of the whole graph, at every state on the way."""
    sampler = MHAug(edges=EgoTerm(strength=0.4, spread_floor=1.0), nodes=EgoTerm(spread_floor=1.0))
    whole = sampler.chain(data)
    for parts in (data.num_nodes - 1, data.num_nodes):
        chain, seen = partitioned_chain(sampler, data, parts=parts), set()
        for _ in range(40):
            chain.step()
            seen.add(tuple(chain.kept("edges")[0].tolist()))
            whole.place({part: chain.kept(part) for part in ("edges", "nodes")})
            assert chain.log_prob() == pytest.approx(whole.log_prob(), abs=1e-9)
        assert len(seen) > 2


def test_a_small_graph_of_cliques_is_divided_between_them():
    chain = partitioned_chain(MHAug(edges=EgoTerm()), cliques(), parts=3)
    sizes = [place.piece.movable for place in chain.state["edges"].places[0].values()]
    assert sizes == [21, 21, 21]
    assert sum(len(owned) for owned in chain.state["edges"].owned) == chain.setup.num_units


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"moves": "swap"}, "'moves' must be one of mixture, flip, resample for a chain in parts"),
        ({"moves": "resample", "accept": "joint"}, "'accept' must be 'blocks' for a chain in parts"),
    ],
)
def test_what_a_chain_in_parts_cannot_do(options, words):
    with pytest.raises(RequestError, match=words):
        partitioned_chain(MHAug(edges=EgoTerm(), **options), path_graph(9), parts=2)
    with pytest.raises(RequestError, match=r"'parts' must be at most the number of nodes \(9\); got 10"):
        partitioned_chain(MHAug(edges=EgoTerm()), path_graph(9), parts=10)
