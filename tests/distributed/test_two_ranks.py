"""Two real processes are one chain, and one training run; one process with the same parts is the same chain."""

import torch
from scipy.stats import chisquare

from distributed.cases import chain_on_cliques, chain_on_path, path_sampler, states_along
from distributed.shared_in_two_ranks import views
from mhaug.data.toy_graphs import path_graph
from mhaug.distributed.world import World
from mhaug.sampling.subgraph import UnitGraph
from sampling.enumeration import all_masks


def exact_law():
    data = path_graph(7)
    target = path_sampler().setup(UnitGraph.from_edge_index(data.edge_index, 7)).targets["edges"]
    masks = all_masks(6)
    return target.log_prob(target.statistics(masks), torch.zeros(7).double()).softmax(0)


def test_what_ranks_say_to_each_other(found):
    assert found["words"] == {
        "total": [2.0, 1.0],
        "from_first": [7],
        "decides": True,
        "union": [number % 4 < 2 for number in range(11)],
        "bytes_from_first": "rank 0",
        "bytes_of_all": [0, 3],
    }


def test_two_ranks_walk_the_very_states_of_one_process(found):
    alone = chain_on_cliques(World.alone())
    alone.step(rounds=5)
    assert found["chains"]["kept"] == alone.kept("edges").int().tolist()
    assert found["from_folders"] == found["chains"]["kept"]
    assert found["chains"]["log_prob"] == alone.log_prob().item()
    assert found["chains"]["change"] == [part.item() for part in alone.change("nodes")]
    assert found["chains"]["resumed"]
    assert found["chains"]["states"] == states_along(chain_on_path(World.alone()), 12)


def test_long_runs_follow_the_enumerated_law():
    """Draws of the chain whose first states two ranks walked above.

    Law: chi-squared with cells - 1 degrees of freedom (states expected less than 10 times are one cell), for draws
    that are as good as independent (`states_along`). Tolerance: p > 1e-4, the false-alarm rate of a fresh seed.
    """
    law, draws = exact_law(), torch.tensor(states_along(chain_on_path(World.alone()), 700))
    counts = draws.bincount(minlength=64).double()
    rare = law * len(draws) < 10
    seen = [torch.cat([each[~rare], each[rare].sum().view(1)]) for each in (counts, law * len(draws))]
    assert chisquare(seen[0].numpy(), seen[1].numpy()).pvalue > 1e-4


def test_rank_0_may_divide_the_graph_for_longer_than_ranks_wait_otherwise(found):
    assert found["patience"]


def test_ranks_never_drift_apart_whatever_the_method(found):
    assert found["apart"] == dict.fromkeys(found["apart"], 0.0)
    assert len(found["apart"]) >= 10


def test_training_in_batches(found):
    """Same seed and ranks, same numbers; one rank for six updates, and two for six more: eighteen batches in all."""
    batches = found["batches"]
    assert batches["losses"][0] == batches["losses"][1]
    assert len(batches["losses"][0]) == 6
    assert batches["updates"] == 12
    assert batches["batches"] == [18, 18]
    assert batches["evaluation"] < 1e-5


def test_training_on_one_chain_of_all_ranks(found):
    """The views are those of one process. In five updates of two ranks each sample gives each of them a batch."""
    both = found["shared"]
    assert both["views"] == views(World.alone())
    assert both["one_place"]
    assert both["runs"][0] == both["runs"][1]
    run = both["runs"][0]
    assert (run["batches"], run["cut"], len(run["losses"])) == (10, 2, 5)
    # five samples: as many accepted candidates, each counted once
    assert run["steps"] >= 5
    assert round(run["rate"] * run["steps"]) == 5


def test_any_number_of_ranks_goes_on_with_the_same_chain(found):
    both = found["shared"]
    assert both["two_go_on"]
    assert both["same_on_both"]
    assert both["one_goes_on"]
    assert both["batches_of_one"] == 4 + 4


def test_ranks_share_the_graph_that_a_method_changes(found):
    first, second = found["rounds"]
    assert first == second


def test_gradients_are_means_over_the_ranks(found):
    assert found["gradients"] == {"both": [2.0, 8.0], "first": [0.5, 0.5], "nobody": None, "notes": [3.0]}


def test_a_loss_that_is_not_finite_stops_all_ranks(found):
    first, second = found["trouble"]
    assert "stopped at step 4 (after update 1): the loss of another rank is not finite" in first
    assert "stopped at step 4 (after update 1): the term 'total' of the loss is nan" in second
