from collections import Counter
from itertools import combinations, product

import pytest
import torch
from scipy import stats

from mhaug.checks import RequestError
from mhaug.minibatch import InEdges, NeighbourSampler
from minibatch.graphs import awkward_graph, stars

FALSE_ALARM = 1e-4  # of each chi-square below; the seeds are fixed, so a pass stays a pass


def leaves_drawn(
    copies: int, leaves: int, fan_out: int, *, seed: int, replace: bool = False
) -> list[tuple[int, ...]]:
    """Which of its leaves each of many nodes was given, from one batch of all of them."""
    sampler = NeighbourSampler(stars(copies, leaves), [fan_out], replace=replace)
    batch = sampler.sample(torch.arange(copies), generator=torch.Generator().manual_seed(seed))
    drawn = (batch.n_id[batch.edge_index[0]] - copies) % leaves
    return [tuple(row) for row in drawn.view(copies, fan_out).tolist()]


def rejected(counts: Counter, cells: list, shares: list[float]) -> bool:
    total = sum(counts.values())
    assert set(counts) <= set(cells)
    found = stats.chisquare([counts[cell] for cell in cells], [share * total for share in shares])
    return found.pvalue < FALSE_ALARM


@pytest.mark.parametrize("fan_out", [1, 2, 3, 4])
def test_every_subset_of_the_neighbours_is_equally_likely(fan_out):
    """Law: uniform on the C(5, k) subsets. Chi-square on 5,000 nodes."""
    counts = Counter(tuple(sorted(row)) for row in leaves_drawn(5000, 5, fan_out, seed=1))
    cells = list(combinations(range(5), fan_out))
    assert not rejected(counts, cells, [1 / len(cells)] * len(cells))


def test_draws_with_replacement_are_independent_and_even():
    """Law: uniform on the 4³ ordered triples. Chi-square on 6,400 nodes."""
    counts = Counter(leaves_drawn(6400, 4, 3, seed=2, replace=True))
    assert not rejected(counts, list(product(range(4), repeat=3)), [1 / 64] * 64)


def test_nodes_are_asked_independently_of_each_other():
    """Law: two nodes, one of three leaves each: nine pairs equally likely. Chi-square on 2,700 pairs."""
    rows = leaves_drawn(5400, 3, 1, seed=3)
    counts = Counter((*first, *second) for first, second in zip(rows[::2], rows[1::2], strict=True))
    assert not rejected(counts, list(product(range(3), repeat=2)), [1 / 9] * 9)


def test_the_chi_square_has_teeth():
    """One neighbour that comes a third too often is noticed."""
    cells = list(combinations(range(5), 2))
    skewed = Counter({cell: 450 + 150 * (cell[0] == 0) for cell in cells})
    assert rejected(skewed, cells, [0.1] * 10)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("fan_outs", [(3, 2), (2, 2, 2), (-1, 4), (-1, -1), (40,)])
def test_a_batch_says_where_it_comes_from(fan_outs, replace):
    """Seeds first, nodes once, columns of the original with its direction, fan-outs kept to, messages inward."""
    data = awkward_graph()
    edges = InEdges.of(data.edge_index, 30)
    sampler = NeighbourSampler(edges, fan_outs, replace=replace)
    seeds = torch.tensor([7, 0, 29, 3])
    for draw in range(20):
        batch = sampler.sample(seeds, generator=torch.Generator().manual_seed(draw))
        assert torch.equal(batch.n_id[: batch.batch_size], seeds)
        assert len(batch.n_id.unique()) == len(batch.n_id) == sum(batch.num_sampled_nodes)
        assert torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])
        assert replace or len(batch.e_id.unique()) == len(batch.e_id) == sum(batch.num_sampled_edges)
        assert bool((batch.edge_index[1].diff() >= 0).all())
        arrived = torch.bincount(batch.edge_index[1], minlength=batch.num_nodes)
        degrees, first = edges.degrees(batch.n_id), 0
        for fan_out, nodes in zip(fan_outs, batch.num_sampled_nodes, strict=False):
            own = degrees[first : first + nodes]
            if replace and fan_out > 0:
                expected = torch.where(own > 0, fan_out, 0)
            else:
                expected = own if fan_out < 0 else own.clamp(max=fan_out)
            assert torch.equal(arrived[first : first + nodes], expected)
            first += nodes
        assert int(arrived[first:].sum()) == 0  # the outermost nodes are not asked


def test_all_neighbours_are_the_neighbourhood():
    """Against the definition, by boolean powers of the adjacency matrix."""
    data = awkward_graph()
    sends = torch.zeros(30, 30, dtype=torch.bool)
    sends[data.edge_index[1], data.edge_index[0]] = True
    reached = torch.eye(30, dtype=torch.bool)[5] | sends[5]
    reached = reached | sends[reached].any(0)
    batch = NeighbourSampler(InEdges.of(data.edge_index, 30), [-1, -1]).sample(torch.tensor([5]))
    assert torch.equal(batch.n_id.sort().values, reached.nonzero().squeeze(1))


def test_same_generator_same_batch_and_no_other_state():
    data = awkward_graph()
    sampler = NeighbourSampler(InEdges.of(data.edge_index, 30), [2, 2])
    seeds = torch.tensor([1, 2])
    first, other, again = (sampler.sample(seeds, generator=torch.Generator().manual_seed(s)) for s in (4, 5, 4))
    assert torch.equal(first.n_id, again.n_id)
    assert torch.equal(first.e_id, again.e_id)
    assert not torch.equal(first.e_id, other.e_id)


def test_the_index_sorts_columns_by_target():
    data = awkward_graph()
    edges = InEdges.of(data.edge_index, 30)
    assert torch.equal(edges.columns.long(), torch.argsort(data.edge_index[1], stable=True))
    assert torch.equal(edges.sources.long(), data.edge_index[0, edges.columns.long()])
    assert edges.pointers[-1] == data.edge_index.shape[1]
    empty = InEdges.of(torch.empty(2, 0, dtype=torch.long), 3)
    batch = NeighbourSampler(empty, [2]).sample(torch.tensor([1]))
    assert batch.n_id.tolist() == [1]
    assert batch.edge_index.shape == (2, 0)


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        (torch.tensor([0, 30]), r"'seeds' must be node numbers in 0..29; got 30"),
        (torch.tensor([-1, 0]), r"'seeds' must be node numbers in 0..29; got -1"),
        (torch.tensor([4, 2, 4]), r"'seeds' must be nodes that differ from one another; got '\[4\] again'"),
        (torch.ones(30, dtype=torch.bool), r"'seeds' must be a tensor of torch.int64"),
        ([1, 2], r"'seeds' must be a tensor of torch.int64"),
    ],
)
def test_wrong_seeds_are_refused_and_leave_no_trace(seeds, words):
    sampler = NeighbourSampler(InEdges.of(awkward_graph().edge_index, 30), [2])
    with pytest.raises(RequestError, match=words):
        sampler.sample(seeds)
    assert bool((sampler._place == -1).all())


def test_a_batch_that_fails_leaves_no_trace():
    """A generator of another device, say, is noticed in the middle of a batch."""
    sampler = NeighbourSampler(InEdges.of(awkward_graph().edge_index, 30), [2, 2])
    with pytest.raises(TypeError):
        sampler.sample(torch.tensor([0, 5]), generator=object())
    assert bool((sampler._place == -1).all())


@pytest.mark.parametrize("fan_outs", [(), (0,), (-2,), (1.5,), (True,), "15"])
def test_wrong_fan_outs(fan_outs):
    with pytest.raises(RequestError, match="'fan_outs' must be whole numbers, one a hop"):
        NeighbourSampler(stars(1, 2), fan_outs)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_on_a_gpu():
    data = awkward_graph().to("cuda")
    sampler = NeighbourSampler(InEdges.of(data.edge_index, 30), [3, 2])
    rng = torch.Generator("cuda").manual_seed(0)
    batch = sampler.sample(torch.tensor([7, 0, 3], device="cuda"), generator=rng)
    assert torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id])
