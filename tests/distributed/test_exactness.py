"""Every phase of the chain in parts leaves P invariant: detailed balance by full enumeration, to 1e-12.

P is that of the whole graph, from the tensors of `sampling/target.py`; the transition matrices come from the compiled
code on pieces with halos. Phases begin with a tilt whose law depends on the state, so what must balance is
P(state) · density(tilt | state) · transition, for each tilt.
"""

import pytest
import torch

from distributed.phases import inside_matrix, log_tilt_law, resample_matrix
from mhaug import EgoTerm, MHAug
from mhaug.distributed.chain import PartitionedChain
from mhaug.distributed.division import Cutting
from mhaug.distributed.layout import Layout, cover
from mhaug.sampling.subgraph import UnitGraph
from sampling.enumeration import all_masks

# nothing here is a round number, so that no two terms cancel by accident
TERM = {"strength": 0.37, "spread_slope": 0.21, "spread_floor": 0.23, "ego_weight": 1.3}
# edges, part of each node, directed
CASES = {
    "two parts, a bridge": ([(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6)], "0000111", False),
    "three parts in a row": ([(i, i + 1) for i in range(8)], "000111222", False),
    "two parts, directed": ([(0, 1), (1, 2), (2, 0), (2, 3), (4, 3), (4, 5), (5, 6), (6, 4)], "0001111", True),
    "two parts, a repeat and a loop": ([(0, 1), (0, 1), (1, 2), (2, 2), (2, 3), (3, 4), (4, 5)], "000111", False),
    "no edge between": ([(0, 1), (1, 2), (3, 4), (4, 5)], "000111", False),
}


def chain_of(name, hops, part="edges", count_weight=1.0, layouts=None):
    pairs, owner, directed = CASES[name]
    edge_index = torch.tensor(pairs).T
    if not directed:
        edge_index = torch.cat([edge_index, edge_index.flip(0)], 1)
    graph = UnitGraph.from_edge_index(edge_index, len(owner), directed=directed)
    sampler = MHAug(**{part: EgoTerm(**TERM, count_weight=count_weight)}, hops=hops, step_size=0.23)
    parts = torch.tensor([int(letter) for letter in owner])
    layouts = layouts or cover(graph, parts, int(parts.max()) + 1, hops, part)
    chain = PartitionedChain(sampler, Cutting(graph, hops, {part: layouts}), seed=0)
    entropy = torch.linspace(0.07, 0.93, graph.num_nodes, dtype=torch.float64)
    chain._weigh(entropy)
    target = sampler.setup(graph).targets[part]
    masks = all_masks(target.units)
    return chain.state[part], target.log_prob(target.statistics(masks), entropy)


def imbalance(state, log_law, turn, tilt):
    law = (log_law + log_tilt_law(state, tilt)).softmax(0)
    transition = inside_matrix(state, turn, tilt)
    torch.testing.assert_close(transition.sum(1), torch.ones(len(law)).double(), atol=1e-12, rtol=0)
    assert float(transition.min()) > -1e-15
    flow = law.unsqueeze(1) * transition
    return float((flow - flow.T).abs().max()), transition


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize("name", CASES)
def test_every_phase_of_the_edges_balances(name, hops):
    state, log_law = chain_of(name, hops)
    # every unit has one turn, and together the turns reach every state from every other
    moved = torch.zeros(state.units, dtype=torch.long)
    reached = torch.zeros(2**state.units, 2**state.units, dtype=torch.float64)
    for turn, places in enumerate(state.places):
        worst, transition = imbalance(state, log_law, turn, -0.41)
        assert worst < 1e-12
        reached += transition
        for place in places.values():
            moved[place.movable] += 1
    assert bool((moved == 1).all())
    assert bool((torch.linalg.matrix_power(reached, 2 * state.units) > 0).all())


@pytest.mark.parametrize(("hops", "count_weight", "tilt"), [(1, 0.71, 0.9), (2, 1.9, -0.7), (2, 0.0, 0.0)])
def test_any_weight_of_the_count_is_exact(hops, count_weight, tilt):
    state, log_law = chain_of("three parts in a row", hops, count_weight=count_weight)
    for turn in range(len(state.places)):
        assert imbalance(state, log_law, turn, tilt)[0] < 1e-12


@pytest.mark.parametrize(("name", "hops"), [("three parts in a row", 1), ("two parts, directed", 2)])
def test_nodes(name, hops):
    state, log_law = chain_of(name, hops, part="nodes", count_weight=0.71)
    for turn in range(len(state.places)):
        assert imbalance(state, log_law, turn, 0.3)[0] < 1e-12


@pytest.mark.parametrize("count_weight", [1.0, 0.71])
def test_the_resample_of_the_whole_balances(count_weight):
    state, log_law = chain_of("no edge between", 2, count_weight=count_weight)
    law, transition = log_law.softmax(0), resample_matrix(state, 0.23)
    flow = law.unsqueeze(1) * transition
    assert float((flow - flow.T).abs().max()) < 1e-12
    torch.testing.assert_close(transition.sum(1), torch.ones(len(law)).double(), atol=1e-12, rtol=0)


def test_units_that_are_not_deep_enough_would_break_it():
    """A control: with two hops, edges with both ends in a part, but next to the cut, must not move at once."""
    owner = torch.tensor([0, 0, 0, 1, 1, 1, 2, 2, 2])
    mover = torch.tensor([0, 0, -1, 1, 1, -1, 2, 2])
    state, log_law = chain_of("three parts in a row", 2, layouts=[Layout(3, owner, mover)])
    assert imbalance(state, log_law, 0, -0.41)[0] > 1e-6
