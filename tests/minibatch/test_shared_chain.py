"""`chain_parts`: one chain in parts as the augmenter, in one process. `tests/distributed` has two real ranks."""

import pytest
import torch

from cli.test_sample import run
from methods.problems import planted_task
from mhaug import NodeClassifier
from mhaug.augmentation.apply import view_of
from mhaug.checks import RequestError
from mhaug.distributed.partitioned import partitioned_chain
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.sampling.subgraph import UnitGraph
from mhaug.training.checkpoint import load_checkpoint
from mhaug.training.fit import fit
from mhaug.training.plan import Plan
from mhaug.training.result import FitConfig

SHARED = {"batch_size": 8, "fan_outs": (4, 3), "chain_parts": 3, "accept": "blocks", "hidden": 16}


def begin(method="mh-aug", *, seed=0, **settings):
    task, plan = planted_task(), Plan.of("gcn", method, {**SHARED, **settings})
    return plan.begin_in_batches(task, LargeGraph.of(task.graph), plan.network(8, 3, seed=seed), seed=seed)


@pytest.mark.parametrize("moves", ["mixture", "resample", "flip"])
def test_views_are_those_of_the_chain_that_is_exact(moves):
    """The states of `partitioned_chain` under ε of the last evaluation, whose law `tests/distributed` enumerates."""
    task, learner = planted_task(), begin(moves=moves, entropy="frozen")
    graph = UnitGraph.from_edge_index(task.graph.edge_index, task.num_nodes)
    sampler = Plan.of("gcn", "mh-aug", {**SHARED, "moves": moves}).method.sampler()
    chain = partitioned_chain(sampler, task.graph, parts=3)
    for _ in range(3):
        step = learner.step(50)
        moved = [bool(chain.step(learner._entropy).moved[0]) for _ in range(step.proposals)]
        assert moved == [False] * (step.proposals - 1) + [True]
        expected = view_of(graph.unit_of_column, chain.subgraph, 0)
        view = learner._sample.views["current"]
        assert torch.equal(view.edge_kept, expected.edge_kept)
        scales = [torch.ones(()) if each.node_scale is None else each.node_scale for each in (view, expected)]
        assert torch.equal(*scales)


def test_learns():
    """Guessing would get a third."""
    clf = NodeClassifier("mh-aug", **SHARED, max_updates=40, weight_decay=0.0, dropout=0.2).fit(planted_task())
    assert clf.result_.test_accuracy > 0.6


class KilledError(Exception):
    """What a kill looks like to the loop."""


@pytest.mark.parametrize("method", ["mh-aug", "mh-aug-no-reg"])
def test_resumes_in_the_middle_of_a_sample(method, tmp_path):
    config, path = FitConfig(max_updates=12, weight_decay=0.0, evaluate_every=3), tmp_path / "checkpoint.safetensors"
    settings = {"batches_per_sample": 5, "moves": "mixture"}
    whole = fit(planted_task(), begin(method, **settings), config)

    def kill(progress):
        if progress.updates == 7:
            raise KilledError

    with pytest.raises(KilledError):
        fit(planted_task(), begin(method, **settings), config, checkpoint=path, checkpoint_every=7, report=kill)
    resumed = fit(planted_task(), begin(method, seed=9, **settings), config, checkpoint=path)
    assert resumed.history == whole.history


def test_a_checkpoint_of_another_division(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    fit(planted_task(), begin(), FitConfig(max_updates=1), checkpoint=path)
    other = begin(chain_parts=2)
    with pytest.raises(RequestError, match="'checkpoint' must be of a chain that was divided in the same way"):
        load_checkpoint(path, other, torch.optim.Adam(other.model.parameters()))


REFUSED = [
    (
        "mh-aug",
        {"batch_size": None},
        "'chain_parts' must be None without 'batch_size': ranks share a chain",
    ),
    ("mh-aug", {"chain_parts": 0}, "'chain_parts' must be a whole number of at least 1; got 0"),
    ("mh-aug", {"accept": "joint"}, "'accept' must be 'blocks' for a chain in parts; got 'joint'"),
    ("mh-aug", {"moves": "swap"}, "'moves' must be one of mixture, flip, resample for a chain in parts"),
    ("uda", {}, "'method with chain_parts' must be one of mh-aug-no-reg, mh-aug; got 'uda'"),
]


@pytest.mark.parametrize(("method", "settings", "words"), REFUSED)
def test_what_a_shared_chain_cannot_do(method, settings, words):
    given = {**SHARED, **settings}
    if method == "uda":
        given.pop("accept")
    with pytest.raises(RequestError, match=words):
        NodeClassifier(method, **given)


def test_the_command_line_says_so_too(capsys):
    """The default of `mh-aug` is joint acceptance, the paper's."""
    words = ["train", "--dataset", "planted-partition", "--set", "batch_size=8", "--set", "chain_parts=2"]
    assert run(*words) == 2
    assert capsys.readouterr().err == "mhaug: 'accept' must be 'blocks' for a chain in parts; got 'joint'\n"
    assert run(*words, "--set", "accept=blocks", "--set", "max_updates=2", "--json") == 0


def test_more_parts_than_nodes():
    with pytest.raises(RequestError, match=r"'chain_parts' must be at most the number of nodes \(120\); got 121"):
        begin(chain_parts=121)
