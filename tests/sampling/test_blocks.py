"""Random numbers of a round, block by block: few at once, and the same moves as if all were drawn together."""

import numpy as np
import pytest
import torch

from mhaug import rng as rng_module
from mhaug.data.toy_graphs import grid_graph, planted_partition
from mhaug.sampling.moves import mixture
from sampling.test_backends import assert_same, sampler


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_a_round_in_blocks_is_a_whole_round(monkeypatch, backend):
    """Seven moves at a time: all of the budget is spent, and each block's numbers are its own."""
    drawn = []
    numbers = rng_module._OnCPU.numbers
    monkeypatch.setattr(mixture, "BLOCK", 7)
    monkeypatch.setattr(rng_module._OnCPU, "numbers", lambda self, size: drawn.append(size) or numbers(self, size))
    chain = sampler(backend, "blocks", "flip", nodes=None).chain(grid_graph(6, 6), chains=1, seed=0)
    report = chain.step()
    budget = mixture.Round.of("flip", chain.graph.num_units, 0.0, chain.setup.resample_work["edges"]).budget
    assert budget > 14
    assert int(report.counts(0)["flip/edges"].sum()) == budget
    # after the start: kinds, numbers of local moves, numbers of resamples (there are none)
    assert drawn[1:7] == [7, 21, 0, 7, 21, 0]


def test_blocks_of_any_size_are_the_same_on_both_backends(monkeypatch):
    monkeypatch.setattr(mixture, "BLOCK", 11)
    traces = [
        sampler(backend, "blocks", "mixture").sample(grid_graph(6, 6), draws=30, warmup=8, chains=2, keep_masks=True)
        for backend in ("torch", "numba")
    ]
    assert_same(*traces)


def test_resamples_of_a_block_in_stretches():
    """Ten units, twelve numbers a resample: by hand, for 25 numbers at once, then for fewer than a resample takes."""
    choices = np.array([1, 0, 2, 0, 0, 1, 0, 0, 1])

    def lengths():
        return [len(choices[these]) for these in mixture.stretches(choices, 10)]

    assert lengths() == [9]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixture, "NUMBERS", 25)
        assert lengths() == [4, 3, 2]  # two resamples each, and one in the last
        patch.setattr(mixture, "NUMBERS", 7)
        assert lengths() == [3, 1, 2, 1, 2]


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_a_warm_up_draws_few_numbers_at_once_and_walks_the_same_states(monkeypatch, backend):
    """Some of its rounds are resamples alone, a dozen of them here: those of two at once, and no more."""
    drawn, numbers = [], rng_module._OnCPU.numbers
    monkeypatch.setattr(rng_module._OnCPU, "numbers", lambda self, size: drawn.append(size) or numbers(self, size))
    data = planted_partition(2, 40, p_in=0.6, seed=0)

    def walk():
        chain = sampler(backend, "blocks", "mixture", nodes=None).chain(data, chains=1, seed=0)
        drawn.clear()
        list(chain.warm_up(8))
        return chain, max(drawn)

    undivided, at_once = walk()
    width = undivided.graph.num_units + 2
    assert at_once > 8 * width
    monkeypatch.setattr(mixture, "NUMBERS", 2 * width)
    divided, at_once = walk()
    assert at_once == 2 * width
    assert torch.equal(divided.kept("edges"), undivided.kept("edges"))
    assert torch.equal(divided.state_dict()["rng.edges"], undivided.state_dict()["rng.edges"])
