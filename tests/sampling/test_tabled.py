"""The tabled move is the reference's, decision by decision."""

import pytest
import torch

from mhaug import EgoTerm, MHAug
from mhaug.data.toy_graphs import planted_partition
from mhaug.sampling.metropolis import PartKernel
from mhaug.sampling.moves.resample import Resample
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.tabled import TabledKernel
from mhaug.sampling.target import edge_target, node_target
from mhaug.sampling.terms import KeepDegrees

CHAINS = 6
DATA = planted_partition(2, 8, p_in=0.4, p_out=0.1, features=2, seed=0)
GRAPH = UnitGraph.from_edge_index(DATA.edge_index, DATA.num_nodes)


def targets(term):
    yield edge_target(GRAPH, term, 2), "edges"
    yield edge_target(GRAPH, term, 1, KeepDegrees(0.05)), "edges with a term of one's own"
    yield node_target(GRAPH, term, 2), "nodes"


@pytest.mark.parametrize("step_size", [0.02, 0.3, 5.0, torch.linspace(0.02, 1.0, CHAINS)])
@pytest.mark.parametrize("count_weight", [0.0, 1.0, torch.linspace(0.0, 2.0, CHAINS)])
def test_same_numbers_same_transitions(step_size, count_weight):
    """Three hundred steps from everywhere, both ends of the counts among them."""
    term = EgoTerm(strength=0.4, spread_slope=0.3, spread_floor=0.6, count_weight=count_weight, strength_slope=-0.3)
    rng = torch.Generator().manual_seed(0)
    for target, name in targets(term):
        tabled, reference = TabledKernel(target, step_size), PartKernel(target, Resample(step_size))
        kept = torch.rand(CHAINS, target.units, generator=rng) > torch.linspace(0, 1, CHAINS).unsqueeze(1)
        state, visited = reference.init(kept), set()
        for _ in range(300):
            entropy = torch.rand(CHAINS, GRAPH.num_nodes, generator=rng, dtype=torch.float64)
            uniforms = torch.rand(CHAINS, target.units + 2, generator=rng, dtype=torch.float64)
            mine, theirs = (kernel.step(state, entropy, uniforms) for kernel in (tabled, reference))
            assert torch.equal(mine.candidate.kept, theirs.candidate.kept), name
            torch.testing.assert_close(mine.log_acceptance, theirs.log_acceptance, rtol=1e-6, atol=1e-6)
            state = theirs.current
            visited.update(theirs.candidate.statistics.dropped.tolist())
        if isinstance(step_size, torch.Tensor) or step_size >= 0.3:
            assert {0, target.units} <= visited


def test_chains_with_settings_of_their_own_need_the_papers_move_and_torch():
    own = EgoTerm(strength=torch.tensor([0.1, 0.9]), spread_floor=0.2)
    with pytest.raises(ValueError, match="'moves' must be 'resample' where chains have settings of their own"):
        MHAug(edges=own, moves="mixture").chain(DATA, chains=2)
    trace = MHAug(edges=own, moves="resample", step_size=0.2).sample(DATA, draws=300, chains=2, seed=1)
    low, high = trace.ego_edge_change.mean(1)
    assert low < 0.35
    assert high > 0.65
