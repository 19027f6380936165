import math

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from mhaug import EgoTerm, MHAug
from mhaug.data.toy_graphs import grid_graph
from mhaug.sampling.diagnostics import describe


def test_independent_draws_are_worth_their_number():
    draws = np.random.default_rng(0).normal(3.0, 2.0, size=(4, 1000))
    row = describe(draws)
    assert row.ess_bulk == pytest.approx(4000, rel=0.15)
    assert row.r_hat == pytest.approx(1.0, abs=0.005)
    assert row.mcse == pytest.approx(2.0 / math.sqrt(4000), rel=0.15)


def test_a_constant_is_stuck_not_perfect():
    row = describe(np.full((4, 100), 0.3))
    assert row.ess_bulk == 0.0
    assert math.isnan(row.r_hat)


def test_chains_that_never_meet_are_seen():
    draws = np.random.default_rng(0).normal(size=(4, 200)) + np.arange(4)[:, None] * 5
    assert describe(draws).r_hat > 2


def test_one_chain_is_held_against_itself():
    drift = np.linspace(0, 5, 400)[None] + np.random.default_rng(0).normal(size=(1, 400))
    assert describe(drift).r_hat > 1.5


def test_frozen_chain_reports_stuck_units_and_says_so():
    sharp = MHAug(edges=EgoTerm(strength=0.5, spread_floor=1e-4), step_size=0.5, moves="resample")
    summary = sharp.sample(grid_graph(6, 6), draws=50, warmup=3000, chains=2).summary()
    assert summary.stuck["edges"] == summary.units["edges"] == 60
    assert summary.acceptance["resample/edges"] < 0.01
    assert summary.advice[0].startswith("Frozen")


def test_a_good_run_has_no_advice_and_delivers():
    easy = MHAug(edges=EgoTerm(strength=0.3, spread_floor=3.0), step_size=0.5)
    summary = easy.sample(grid_graph(5, 5), draws=1500, chains=4).summary()
    assert summary.advice == ()
    assert summary.strength["edges"] == 0.3
    assert 0.2 < summary.delivered["edges"] < 0.6
    assert summary.stuck["edges"] == 0
    assert "delivered" in str(summary)
    assert summary.to_dict()["quantities"]["edge_change"]["ess_bulk"] > 400


def test_joint_acceptance_is_one_row():
    term = EgoTerm(spread_floor=2.0)
    trace = MHAug(edges=term, nodes=term, accept="joint", moves="resample").sample(grid_graph(3, 3), draws=20)
    assert list(trace.summary().acceptance) == ["resample/joint"]


def test_advice_speaks_of_what_is_there():
    """One chain cannot disagree with another, and two draws say nothing."""
    slow = MHAug(edges=EgoTerm(strength=0.3, spread_floor=3.0), step_size=0.03, moves="resample")
    alone = slow.sample(grid_graph(5, 5), draws=60, warmup=0, chains=1).summary()
    assert alone.advice[0].startswith("Not converged: the two halves of the chain disagree")
    together = slow.sample(grid_graph(5, 5), draws=60, warmup=0, chains=3).summary()
    assert together.advice[0].startswith("Not converged: the chains still disagree")
    easy = MHAug(edges=EgoTerm(strength=0.3, spread_floor=3.0), step_size=0.5)
    assert easy.sample(grid_graph(5, 5), draws=2).summary().advice == ("Too few draws to tell anything. Draw more.",)


def test_a_graph_without_edges_is_called_one():
    bare = Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=5)
    summary = MHAug(edges=EgoTerm()).sample(bare, draws=10, warmup=0).summary()
    assert summary.advice == ("There is nothing to drop: the graph has no edges.",)


def test_numbers_that_do_not_exist_are_none_in_json():
    frozen = MHAug(edges=EgoTerm(spread_floor=1e-4, strength=0.5), moves="resample")
    summary = frozen.sample(grid_graph(5, 5), draws=20, warmup=3000).summary()
    assert summary.to_dict()["quantities"]["edge_change"]["r_hat"] is None


def test_drawing_stops_when_there_are_enough_effective_draws():
    easy = MHAug(edges=EgoTerm(strength=0.3, spread_floor=3.0), step_size=0.5)
    trace = easy.sample(grid_graph(5, 5), draws=5000, chains=4, until_ess=200, keep_masks=True)
    drawn = trace.log_prob.shape[1]
    assert 100 <= drawn < 1500
    assert trace.edge_kept.shape[1] == drawn
    summary = trace.summary()
    assert summary.quantities["ego_edge_change"].ess_bulk >= 200
    assert summary.ess_per_second["ego_edge_change"] > 0
