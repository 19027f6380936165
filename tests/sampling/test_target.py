"""log P on a graph of one edge, where every number can be worked out by hand."""

import pytest
import torch
from torch_geometric.data import Data

from mhaug import EgoTerm, MHAug
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.target import edge_target

PAIR = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
ENTROPY = torch.tensor([0.0, 1.0])


def log_prob(kept: bool, **options) -> float:
    """Each node receives 2 messages with the edge and 1 without it: Δ = (0, 0) or (1/2, 1/2). C(1, d) = 1."""
    target = edge_target(UnitGraph.from_edge_index(PAIR.edge_index, 2), EgoTerm(**options), 1)
    return float(target.log_prob(target.statistics(torch.tensor([kept])), ENTROPY))


def test_one_strength_for_all():
    """Dropped, μ = 0.3, σ = (0.5, 0.7): -(0.2² / 0.5 + 0.2² / 0.98)."""
    by_hand = -(0.04 / 0.5 + 0.04 / 0.98)
    assert log_prob(False, strength=0.3, spread_floor=0.5, spread_slope=0.2) == pytest.approx(by_hand)


def test_strength_that_follows_the_entropy():
    """μ = 0.6 - 0.6 ε = (0.6, 0), σ = 0.5. Dropped: -(0.1² + 0.5²) / 0.5; kept: -0.6² / 0.5."""
    options = {"strength": 0.6, "strength_slope": -0.6, "spread_floor": 0.5}
    assert log_prob(False, **options) == pytest.approx(-0.52)
    assert log_prob(True, **options) == pytest.approx(-0.72)


@pytest.mark.parametrize("backend", ["numba", "torch"])
def test_sure_nodes_are_changed_more_where_the_slope_is_negative(backend):
    """Two edges apart from each other, one between sure nodes and one between unsure ones; σ = 0.05 is sharp.

    μ = (0.5, 0): an edge is worth e^±100, so the first is always dropped and the second never.
    """
    data = Data(edge_index=torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]), num_nodes=4)
    term = EgoTerm(strength=0.5, strength_slope=-0.5, spread_floor=0.05)
    sampler = MHAug(edges=term, hops=1, moves="flip", backend=backend)
    trace = sampler.sample(data, draws=50, entropy=torch.tensor([0.0, 0.0, 1.0, 1.0]), keep_masks=True)
    assert not trace.edge_kept[:, :, 0].any()
    assert trace.edge_kept[:, :, 1].all()
    assert "pulled to 0.5 -0.5 ε" in str(trace.summary())
