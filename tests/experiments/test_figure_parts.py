"""What the figures are made of: the ladder of swaps, the exact and the weighted law of the target, roles of edges.

Tolerances are the limits that a true agreement breaks with probability `ALARM` under fresh seeds; seeds are fixed, so
that a pass is a pass for good. Negative controls must break the same limits.
"""

from itertools import combinations

import numpy as np
import pytest
import torch
from scipy.stats import norm, t

from mhaug.checks import RequestError
from mhaug.data.toy_graphs import grid_graph
from mhaug.experiments.figures.edge_roles import edge_roles, within_reach
from mhaug.experiments.figures.ego_choice import shown_node, typical_draw
from mhaug.experiments.figures.ego_drawing import crossings, layout, smallest_gap
from mhaug.experiments.figures.ego_graph import _uniform
from mhaug.experiments.figures.fixed_count import FLAT, Drops, Effort, drops_at_count, ladder
from mhaug.experiments.figures.grid import exact, orbits
from mhaug.experiments.figures.importance import importance_draws, log_prob
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.target import EgoTerm, edge_target

ALARM = 1e-4


def target_on(rows, columns, strength, spread, count_weight=1.0):
    data = grid_graph(rows, columns)
    graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
    return edge_target(graph, EgoTerm(strength, 0.0, spread, count_weight=count_weight), 2)


def test_edges_that_do_not_drop_alike_are_noticed():
    """A negative control of the chi-squared test: one edge in ten is dropped half as often as the others."""
    rng = np.random.default_rng(0)
    weights = np.where(np.arange(50) < 5, 0.5, 1.0)
    for chances, low, high in ((weights, 0.0, 1e-12), (np.ones(50), ALARM, 1.0)):
        chosen = [rng.choice(50, 10, replace=False, p=chances / chances.sum()) for _ in range(2000)]
        dropped = torch.zeros(2000, 50, dtype=torch.bool).scatter(1, torch.from_numpy(np.stack(chosen)), True)
        assert low <= _uniform(Drops(torch.empty(0), dropped.unsqueeze(0), torch.empty(0), 1.0)) <= high


@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_ladder_of_swaps_meets_the_exact_law_given_the_count(strength):
    """3 x 3 grid, 4 of 12 edges dropped: 495 states. Chain to chain errors, Student's t, all edges together."""
    target = target_on(3, 3, strength, 0.15)
    chosen = torch.tensor(list(combinations(range(12), 4)))
    dropped = torch.zeros(len(chosen), 12, dtype=torch.bool).scatter(1, chosen, True)
    law = log_prob(target, dropped).softmax(0) @ dropped.double()
    effort = Effort(chains=12, draws=80, warmup=10, rounds=4)
    drops = drops_at_count(grid_graph(3, 3), strength=strength, spread=0.15, dropped=4, seed=0, effort=effort)
    assert set(drops.dropped.sum(-1).flatten().tolist()) == {4}
    by_chain = drops.dropped.double().mean(1).numpy()
    errors = by_chain.std(0, ddof=1) / np.sqrt(12)
    assert (np.abs(by_chain.mean(0) - law.numpy()) / errors).max() < t.isf(ALARM / 24, 11)
    # the four edges in the middle together, and as a control the flat law, where every edge has 1/3
    spokes = (drops.unit_edges == 4).any(0).numpy()
    middle = by_chain[:, spokes].mean(1)
    error, limit = middle.std(ddof=1) / np.sqrt(12), t.isf(ALARM / 2, 11)
    assert abs(middle.mean() - float(law[spokes].mean())) < limit * error
    assert abs(middle.mean() - 1 / 3) > 2 * limit * error


def test_a_ladder_goes_from_the_spread_to_a_flat_one():
    assert ladder(1000.0) == [1000.0]
    steps = ladder(0.05)
    assert steps[0] == pytest.approx(0.05)
    assert steps[-1] == pytest.approx(FLAT)
    assert max(np.diff(np.log(steps))) <= np.log(1.26)


def test_enumeration_against_plain_sums():
    """The 2 x 2 grid is a ring of four edges: 16 subgraphs, powers of a matrix, no code of ours."""
    edges, weights, drops = [(0, 1), (0, 2), (1, 3), (2, 3)], [], []
    for state in range(16):
        dropped = [(state >> bit) & 1 for bit in range(4)]
        matrix = np.eye(4)
        for (one, other), gone in zip(edges, dropped, strict=True):
            matrix[one, other] = matrix[other, one] = 1 - gone
        change = 1 - (matrix @ matrix @ np.ones(4)) / 9
        weights.append(np.exp(-((change - 0.2) ** 2).sum() / (2 * 0.3**2)) / [1, 4, 6, 4, 1][sum(dropped)])
        drops.append(dropped)
    expected = np.average(drops, axis=0, weights=weights)
    assert exact(target_on(2, 2, 0.2, 0.3))["target"] == pytest.approx(expected.tolist(), abs=1e-12)


@pytest.mark.parametrize("count_weight", [1.0, 0.0])
def test_weighted_draws_meet_the_exact_law(count_weight):
    target = target_on(3, 4, 0.0, 0.3, count_weight)
    found, limit = importance_draws(target, 20_000, seed=0), norm.isf(ALARM / (2 * 17))
    assert found.effective > 10_000
    right, wrong = (torch.tensor(exact(target_on(3, 4, 0.0, s, count_weight))["target"]) for s in (0.3, 0.36))
    distances = [(found.mean(found.dropped) - law).abs() / found.error(found.dropped) for law in (right, wrong)]
    assert float(distances[0].max()) < limit
    assert float(distances[1].max()) > 2 * limit


def test_symmetries_of_a_grid():
    """3 x 3: eight edges on the rim, four spokes. The exact law knows them too."""
    data = grid_graph(3, 3)
    alike = orbits(UnitGraph.from_edge_index(data.edge_index, 9).unit_edges, (3, 3))
    assert sorted(alike.bincount().tolist()) == [4, 8]
    law = torch.tensor(exact(target_on(3, 3, 0.1, 0.3))["target"])
    for orbit in (0, 1):
        assert float(law[alike == orbit].std()) < 1e-12


def test_crossings_and_gaps_by_hand():
    """A square with both diagonals, which cross once; then a node a tenth away from one of them."""
    square, edges = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], torch.tensor([[0, 0, 1, 1], [1, 2, 2, 3]])
    assert crossings(square, edges) == 1
    assert smallest_gap(square, edges) == pytest.approx(np.sqrt(0.5))
    near = [*square, [0.5 - 0.1 * np.sqrt(0.5), 0.5 + 0.1 * np.sqrt(0.5)]]
    edges = torch.cat([edges[:, :2], torch.tensor([[3], [4]])], 1)
    assert crossings(near, edges) == 0
    assert smallest_gap(near, edges) == pytest.approx(0.1)


def test_the_typical_draw_is_the_median_one():
    """A path 0-1-2-3-4 seen from 0: a dropped edge leaves 1, 2, 3 or 4 nodes; two draws in five leave 3."""
    edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4]])
    dropped = torch.eye(4, dtype=torch.bool)[[0, 2, 3, 2, 1]]
    sample, left = typical_draw(Drops(edges, dropped.unsqueeze(0), torch.empty(0), 1.0), centre=0)
    assert left == [1, 3, 4, 3, 2]
    assert sample.tolist() == [False, False, True, False]


def test_a_graph_without_a_fitting_ego_graph_is_refused():
    with pytest.raises(RequestError, match="node must be given"):
        shown_node(grid_graph(3, 3))


def test_roles_of_edges():
    """Two stars of four leaves joined by one edge, which is the only bridge that is not a leaf's."""
    edges = torch.tensor([[0, 1], *([0, n] for n in range(2, 6)), *([1, n] for n in range(6, 10))]).T
    roles = edge_roles(edges)
    assert roles.bridge.tolist() == roles.hub_bridge.tolist() == [True] + [False] * 8
    assert roles.betweenness.argmax() == 0
    assert within_reach(edges, ~roles.bridge, centre=0, hops=3) == [0, 2, 3, 4, 5]
    places = np.array(layout(edges))
    assert places.min(0).tolist() == pytest.approx([0, 0], abs=1e-12)
    assert places.max(0)[0] == pytest.approx(1.0)
    # in whatever order the edges come
    np.testing.assert_allclose(layout(edges.flip(1)), places)
