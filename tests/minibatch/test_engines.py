"""Ours against PyG's sampler, where PyG's can run."""

from collections import Counter
from importlib.util import find_spec

import pytest
import torch
from scipy import stats

from mhaug.minibatch import NeighbourSampler
from mhaug.minibatch.engines import PyGSampler, new_sampler
from mhaug.minibatch.large_graph import LargeGraph
from minibatch.graphs import awkward_graph

HAS_PYG = find_spec("pyg_lib") is not None or find_spec("torch_sparse") is not None
needs_pyg = pytest.mark.skipif(not HAS_PYG, reason="PyG's sampler needs pyg-lib or torch-sparse")


def test_plain_torch_without_pyg_lib(monkeypatch):
    graph = LargeGraph.of(awkward_graph())
    monkeypatch.setattr("mhaug.minibatch.engines.find_spec", lambda name: None)
    assert isinstance(new_sampler(graph, [2], replace=False), NeighbourSampler)


@needs_pyg
def test_pyg_lib_is_used_where_it_is_installed():
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
