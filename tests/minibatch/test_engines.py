"""Ours against PyG's sampler, where PyG's can run."""

import sys
from collections import Counter
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest
import torch
from scipy import stats
from torch_geometric import typing

from mhaug.minibatch import NeighbourSampler
from mhaug.minibatch.engines import PyGSampler, new_sampler
from mhaug.minibatch.large_graph import LargeGraph
from minibatch.graphs import awkward_graph

HAS_PYG = typing.WITH_PYG_LIB or typing.WITH_TORCH_SPARSE
needs_pyg = pytest.mark.skipif(not HAS_PYG, reason="PyG's sampler needs pyg-lib or torch-sparse")


def test_plain_torch_without_pyg_lib(monkeypatch):
    """What counts is whether pyg-lib could be loaded, not whether it is installed."""
    monkeypatch.setitem(sys.modules, "pyg_lib", ModuleType("pyg_lib"))
    sys.modules["pyg_lib"].__spec__ = ModuleSpec("pyg_lib", None)
    monkeypatch.setattr(typing, "WITH_PYG_LIB", False)
    assert isinstance(new_sampler(LargeGraph.of(awkward_graph()), [2], replace=False), NeighbourSampler)


@pytest.mark.skipif(not typing.WITH_PYG_LIB, reason="needs pyg-lib")
def test_pyg_lib_is_used_where_it_can_be_loaded():
    assert isinstance(new_sampler(LargeGraph.of(awkward_graph()), [2], replace=False), PyGSampler)


@needs_pyg
def test_all_neighbours_are_the_same_batch():
    data = awkward_graph()
    seeds = torch.tensor([7, 3])
    ours = NeighbourSampler(LargeGraph.of(data).edges, [-1, -1]).sample(seeds)
    theirs = PyGSampler(data.edge_index, 30, [-1, -1]).sample(seeds)
    assert torch.equal(theirs.n_id[theirs.edge_index], data.edge_index[:, theirs.e_id])
    assert torch.equal(ours.e_id.sort().values, theirs.e_id.sort().values)


@needs_pyg
@pytest.mark.parametrize("replace", [False, True])
def test_columns_come_equally_often(replace):
    """Law: counts of each column over 2,000 batches; two-sample chi-square with a false alarm of 1e-4."""
    data, seeds = awkward_graph(), torch.tensor([7, 3])
    counts = []
    for sampler in (
        NeighbourSampler(LargeGraph.of(data).edges, [3, 2], replace=replace),
        PyGSampler(data.edge_index, 30, [3, 2], replace=replace),
    ):
        rng, seen = torch.Generator().manual_seed(5), Counter()
        for _ in range(2000):
            seen.update(sampler.sample(seeds, generator=rng).e_id.tolist())
        counts.append(seen)
    columns = sorted(set(counts[0]) | set(counts[1]))
    table = [[seen[column] for column in columns] for seen in counts]
    assert stats.chi2_contingency(table).pvalue > 1e-4
