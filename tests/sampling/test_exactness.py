"""The chain is exact: masses sum to one, detailed balance holds, and P is the one stationary law, by enumeration."""

import pytest
import torch

from mhaug import EgoTerm, MHAug
from mhaug.sampling.metropolis import PartKernel
from mhaug.sampling.moves.mixture import KINDS, MOVES, elementary_moves
from sampling.enumeration import all_masks, enumerate_step, tables
from sampling.tiny_graphs import EDGES, tiny_graph

# nothing here is a round number, so that no two terms cancel by accident
EDGE_TERM = EgoTerm(0.37, 0.21, spread_floor=0.23, ego_weight=1.3, count_weight=0.71, strength_slope=0.29)
NODE_TERM = EgoTerm(0.59, 0.17, spread_floor=0.31, ego_weight=0.83, count_weight=1.19, strength_slope=-0.43)
RULES = [("joint", "resample"), *(("blocks", moves) for moves in MOVES)]


def entropy_of(nodes: int) -> torch.Tensor:
    return torch.linspace(0.07, 0.93, nodes, dtype=torch.float64)


def setup_of(name: str, **options):
    return MHAug(**{"edges": EDGE_TERM, "step_size": (0.23, 0.31), **options}).setup(tiny_graph(name))


def enumerated(name: str, share: float = 0.5, **options):
    setup = setup_of(name, **options)
    return enumerate_step(setup, entropy_of(setup.graph.num_nodes), share)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("step_size", [0.01, 0.23, 5.0])
def test_the_proposal_sums_to_one(name, step_size, kind):
    setup = setup_of(name, nodes=NODE_TERM)
    for target in setup.targets.values():
        move = elementary_moves(step_size)[KINDS.index(kind)]
        proposal = tables(PartKernel(target, move), entropy_of(setup.graph.num_nodes)).proposal.exp()
        torch.testing.assert_close(proposal.sum(1), torch.ones(len(proposal)).double(), atol=1e-12, rtol=0)


@pytest.mark.parametrize("hops", [1, 2, 3])
@pytest.mark.parametrize(("accept", "moves"), RULES)
@pytest.mark.parametrize("nodes", [None, NODE_TERM], ids=["edges", "edges-and-nodes"])
@pytest.mark.parametrize("name", EDGES)
def test_detailed_balance_and_stationarity(name, nodes, accept, moves, hops):
    law, transition = enumerated(name, nodes=nodes, accept=accept, moves=moves, hops=hops)
    flow = law.unsqueeze(1) * transition
    assert float((flow - flow.T).abs().max()) < 1e-12
    assert float((law @ transition - law).abs().max()) < 1e-12
    assert float(transition.min()) > -1e-15


@pytest.mark.parametrize("share", [0.05, 0.9])
def test_any_frozen_weights_of_the_mixture_are_exact(share):
    law, transition = enumerated("triangle-with-tail", share, moves="mixture")
    assert float((law @ transition - law).abs().max()) < 1e-12


@pytest.mark.parametrize(("accept", "moves"), [rule for rule in RULES if rule[1] != "swap"])
@pytest.mark.parametrize("name", EDGES)
def test_every_state_is_reached_from_every_other(name, accept, moves):
    transition = enumerated(name, nodes=NODE_TERM, accept=accept, moves=moves).transition
    assert bool((torch.linalg.matrix_power(transition, 16) > 0).all())


def test_swaps_alone_keep_the_count_and_reach_all_that_share_it():
    transition = enumerated("directed", moves="swap").transition
    counts = all_masks(5).sum(1)
    same = counts.unsqueeze(0) == counts.unsqueeze(1)
    assert torch.equal(torch.linalg.matrix_power(transition, 16) > 1e-15, same)


def test_nodes_alone():
    law, transition = enumerated("star", edges=None, nodes=NODE_TERM)
    assert len(law) == 16
    assert float((law @ transition - law).abs().max()) < 1e-12


def test_blocks_and_joint_share_the_law_but_not_the_acceptance():
    joint, blocks = (
        enumerated("star", nodes=NODE_TERM, accept=rule, moves="resample") for rule in ("joint", "blocks")
    )
    torch.testing.assert_close(joint.law, blocks.law)
    leaves_joint, leaves_blocks = (1.0 - each.law @ each.transition.diagonal() for each in (joint, blocks))
    assert leaves_blocks > leaves_joint


def test_target_by_hand():
    """One undirected edge, one hop, no entropy: Δ is 0 for both nodes if kept, 1/2 if dropped; C(1, d) = 1."""
    setup = MHAug(edges=EgoTerm(strength=0.5, spread_floor=0.5), hops=1).setup(tiny_graph("one-edge"))
    law = enumerate_step(setup, torch.zeros(2, dtype=torch.float64)).law
    dropped, kept = 1.0, float(torch.tensor(-2 * 0.25 / (2 * 0.25)).exp())
    torch.testing.assert_close(law, torch.tensor([dropped, kept]).double() / (dropped + kept))
