"""The control of `mh-aug`: independent draws of a fixed size, and the very same loss."""

from itertools import pairwise

import pytest
import torch

from methods.problems import begin, planted_task
from mhaug.methods.consecutive import ConsecutiveLoss
from mhaug.methods.fixed_rates import FixedRates
from mhaug.methods.mh_aug import MHAugReg
from mhaug.objectives.objective import ViewLogits
from mhaug.sampling.subgraph import UnitGraph


def test_its_loss_is_that_of_mh_aug():
    """Logits of two nodes; L_s = log 2 on the previous view, L_u and L_h by `total_loss`, weights 0.5 and 0.2."""
    views = ViewLogits(torch.eye(2), torch.zeros(2, 2), 2.0 * torch.eye(2))
    labels, nodes = torch.tensor([0, 1]), torch.tensor([True, True])
    weights = {"consistency_weight": 0.5, "sharpness_weight": 0.2}
    mine, theirs = (kind(**weights).recipe() for kind in (FixedRates, MHAugReg))
    found = mine.loss(views, labels, nodes)
    assert float(found.terms["supervised"]) == pytest.approx(0.6931472)
    assert float(found.total) == float(theirs.loss(views, labels, nodes).total)
    assert (mine.views, mine.regularises) == (theirs.views, theirs.regularises)


@pytest.mark.parametrize(
    ("consistency", "sharpness", "views"),
    [(0.0, 0.0, {"previous"}), (0.5, 0.0, {"previous", "current"}), (0.0, 0.5, {"previous", "original"})],
)
def test_a_term_of_weight_0_asks_for_no_pass(consistency, sharpness, views):
    loss = ConsecutiveLoss(consistency, sharpness)
    assert loss.views == views
    assert loss.regularises == (consistency + sharpness > 0.0)


def test_draws_have_the_size_of_the_rates_and_follow_one_another():
    """120 nodes at 0.25: 30 go, every time. What is current at one step is previous at the next."""
    learner = begin("fixed-rates", edge_rate=0.4, node_rate=0.25)
    graph = planted_task().graph
    units = UnitGraph.from_edge_index(graph.edge_index, graph.num_nodes).num_units
    proposals = [learner._augmenter.propose(None) for _ in range(4)]
    for earlier, later in pairwise(proposals):
        assert torch.equal(later.previous.edge_kept, earlier.current.edge_kept)
        assert not torch.equal(later.current.edge_kept, earlier.current.edge_kept)
    for proposal in proposals:
        assert int((~proposal.current.edge_kept).sum()) == 2 * round(0.4 * units)
        assert int((proposal.current.node_scale == 0).sum()) == 30
