"""A term of the user's own: exact under every move, and the same on both backends."""

import pytest
import torch

from mhaug import EgoTerm, KeepDegrees, MHAug
from mhaug.checks import RequestError
from mhaug.data.toy_graphs import grid_graph, planted_partition
from mhaug.sampling.moves.mixture import MOVES
from sampling.enumeration import enumerate_step
from sampling.test_backends import assert_same
from sampling.tiny_graphs import EDGES, tiny_graph


def test_value_by_hand():
    """A star with three leaves, two edges dropped: the hub lost two, two leaves one each: 4 + 1 + 1."""
    term = KeepDegrees(weight=0.5).bind(tiny_graph("star"))
    assert float(term.log_prob(torch.tensor([False, False, True]))) == -0.5 * 6


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("name", EDGES)
def test_exact_under_every_move(name, moves):
    setup = MHAug(edges=EgoTerm(), extra=KeepDegrees(0.3), moves=moves, step_size=0.3).setup(tiny_graph(name))
    law, transition = enumerate_step(setup, torch.zeros(setup.graph.num_nodes, dtype=torch.float64))
    assert float((law @ transition - law).abs().max()) < 1e-12


@pytest.mark.parametrize("moves", MOVES)
def test_same_decisions_on_both_backends(moves):
    data = planted_partition(3, 20, seed=0)
    samplers = [
        MHAug(edges=EgoTerm(), extra=KeepDegrees(0.2), moves=moves, step_size=0.2, backend=backend)
        for backend in ("torch", "numba")
    ]
    assert_same(*(each.sample(data, draws=4, warmup=8, chains=2, keep_masks=True) for each in samplers))


def test_it_does_what_it_says():
    data, lost = grid_graph(6, 6), []
    for weight in (0.0, 2.0):
        sampler = MHAug(edges=EgoTerm(strength=0.5, spread_floor=0.5), extra=KeepDegrees(weight))
        lost.append(float(sampler.sample(data, draws=100, chains=2).edge_change.mean()))
    assert lost[1] < 0.5 * lost[0]


class Uncompiled(KeepDegrees):
    """A term that was written for the reference alone."""

    def bind(self, graph):
        bound = super().bind(graph)
        object.__setattr__(bound, "compiled", lambda: None)
        return bound


def test_a_term_without_compiled_functions_runs_on_torch():
    chain = MHAug(edges=EgoTerm(), extra=Uncompiled(0.1)).chain(grid_graph(3, 3))
    assert type(chain).__name__ == "TorchChain"


def test_bad_terms():
    with pytest.raises(RequestError, match="'extra' must be None where 'edges' is None"):
        MHAug(nodes=EgoTerm(), extra=KeepDegrees())
    with pytest.raises(RequestError, match="'weight'"):
        KeepDegrees(-1.0)
