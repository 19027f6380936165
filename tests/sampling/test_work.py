import pytest

from mhaug.data.toy_graphs import complete_graph, path_graph, star_graph
from mhaug.sampling.moves.mixture import Round
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.work import resample_work


def unit_graph(data):
    return UnitGraph.from_edge_index(data.edge_index, data.num_nodes)


def test_by_hand():
    """Eleven nodes in a complete graph: 110 columns, and a flip touches what both ends' 11 messages reach."""
    graph = unit_graph(complete_graph(11))
    assert resample_work(graph, 2, "edges") == max(1.0, 0.1 * 2 * 110 / (8 + 22))
    assert resample_work(unit_graph(path_graph(10_001)), 1, "edges") == pytest.approx(0.1 * 20_000 / 8)
    assert resample_work(unit_graph(star_graph(3)), 3, "nodes") == 1.0


def test_a_round_is_half_a_sweep_or_as_much_as_32_resamples():
    assert Round.of("flip", 1000, 0.5, 50.0).budget == 500
    assert Round.of("flip", 10_000, 0.5, 50.0).budget == 1600
    assert Round.of("resample", 1000, 0.5, 50.0) == Round(1, (1.0, 0.0, 0.0))


def test_the_share_is_a_share_of_work():
    """A quarter of the work of 500 local moves, at 50 a resample, is 2.5 resamples beside 375 local moves."""
    plan = Round.of("mixture", 1000, 0.25, 50.0)
    assert plan.budget == 378
    assert plan.weights == pytest.approx((2.5 / 377.5, 187.5 / 377.5, 187.5 / 377.5))
