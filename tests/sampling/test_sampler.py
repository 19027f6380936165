import json
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

from mhaug import EgoTerm, MHAug, Trace, load_dataset
from mhaug.checks import RequestError
from mhaug.data.toy_graphs import grid_graph
from mhaug.sampling.recorder import Recorder

BOTH = MHAug(edges=EgoTerm(strength=0.3), nodes=EgoTerm(strength=0.2), step_size=(0.1, 0.2))


@pytest.fixture(scope="module")
def grid():
    return grid_graph(4, 5)  # 20 nodes, 31 pairs


def test_shapes_and_meaning(grid):
    trace = BOTH.sample(grid, draws=30, warmup=5, chains=3, keep_masks=True)
    assert trace.edge_kept.shape == (3, 30, 31)
    assert trace.node_kept.shape == (3, 30, 20)
    assert trace.unit_edges.shape == (2, 31)
    assert trace.log_prob.shape == (3, 30)
    torch.testing.assert_close(trace.edge_change, (~trace.edge_kept).double().mean(-1))
    torch.testing.assert_close(trace.node_change, (~trace.node_kept).double().mean(-1))
    torch.testing.assert_close(trace.edge_kept_share, trace.edge_kept.float().mean(1))
    flips = (trace.edge_kept[:, 1:] != trace.edge_kept[:, :-1]).sum(1)
    assert bool((trace.edge_flips >= flips).all())  # the first draw is compared with the end of the warm-up


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_node_numbers_may_be_short(grid, backend):
    short = Data(edge_index=grid.edge_index.int(), num_nodes=20)
    first, second = (replace(BOTH, backend=backend).sample(each, draws=10, warmup=2) for each in (grid, short))
    assert torch.equal(first.log_prob, second.log_prob)


def test_log_prob_and_ego_change_belong_to_the_masks(grid):
    trace = BOTH.sample(grid, draws=20, warmup=0, chains=2, keep_masks=True)
    targets = BOTH.chain(grid).setup.targets
    parts = {"edges": trace.edge_kept, "nodes": trace.node_kept}
    entropy = torch.zeros(20).double()
    total = 0
    for name, kept in parts.items():
        target = targets[name]
        statistics = target.statistics(kept)
        total = total + target.log_prob(statistics, entropy)
        torch.testing.assert_close(getattr(trace, f"ego_{name[:-1]}_change"), statistics.ego_change.mean(-1))
    torch.testing.assert_close(trace.log_prob, total)


def test_same_seed_same_bits_and_own_streams(grid):
    run = lambda **options: BOTH.sample(grid, draws=15, warmup=3, keep_masks=True, **options)  # noqa: E731
    first = run(seed=7, chains=3)
    assert torch.equal(first.edge_kept, run(seed=7, chains=3).edge_kept)
    assert not torch.equal(first.edge_kept, run(seed=8, chains=3).edge_kept)
    assert not torch.equal(first.edge_kept[1], first.edge_kept[2])
    # chain 0 is the same chain, however many run beside it
    assert torch.equal(first.edge_kept[0], run(seed=7, chains=1).edge_kept[0])


def test_thinning_keeps_every_nth_state(grid):
    dense = BOTH.sample(grid, draws=12, warmup=0, chains=2, keep_masks=True)
    thin = BOTH.sample(grid, draws=4, warmup=0, chains=2, thin=3, keep_masks=True)
    assert torch.equal(thin.edge_kept, dense.edge_kept[:, 2::3])


def test_starts_are_spread_from_whole_to_empty(grid):
    change = BOTH.chain(grid, chains=4).subgraph.edge_change
    assert change.tolist() == pytest.approx([0, 10 / 31, 21 / 31, 1])
    assert BOTH.chain(grid, chains=1).subgraph.edge_change.tolist() == [0.0]


def test_a_part_that_is_none_is_never_dropped(grid):
    trace = MHAug(edges=EgoTerm()).sample(grid, draws=10, keep_masks=True)
    assert bool(trace.node_kept.all())
    assert float(trace.node_change.abs().max()) == 0.0
    assert "node_change" not in trace.summary().quantities


def test_the_state_does_not_move_on_rejection(grid):
    stuck = MHAug(edges=EgoTerm(strength=0.5, spread_floor=1e-3), step_size=0.3, moves="resample", backend="torch")
    chain = stuck.chain(grid, chains=4, seed=1)
    kernel, seen = chain.kernels["edges"][0], 0
    for seed in range(50):
        uniforms = torch.rand(4, 33, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        step = kernel.step(chain.state["edges"], torch.zeros(20).double(), uniforms)
        rejected = ~step.accepted
        assert torch.equal(step.current.kept[rejected], step.previous.kept[rejected])
        assert torch.equal(step.current.kept[step.accepted], step.candidate.kept[step.accepted])
        seen += int(rejected.sum())
    assert seen > 0


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_resume_gives_the_same_chain(grid, backend):
    whole, first, second = (replace(BOTH, backend=backend).chain(grid, chains=2, seed=3) for _ in range(3))
    for _ in range(20):
        whole.step()
    for _ in range(10):
        first.step()
    second.load_state_dict(first.state_dict())
    for _ in range(10):
        second.step()
    assert torch.equal(whole.subgraph.edge_kept, second.subgraph.edge_kept)


@pytest.mark.parametrize("suffix", [".nc", ".npz"])
@pytest.mark.parametrize("keep_masks", [True, False])
def test_save_and_load(grid, tmp_path, suffix, keep_masks):
    trace = BOTH.sample(grid, draws=12, chains=2, keep_masks=keep_masks)
    trace.save(tmp_path / f"trace{suffix}")
    again = Trace.load(tmp_path / f"trace{suffix}")
    for name in ("log_prob", "edge_change", "ego_node_change", "unit_edges", "edge_flips", "node_kept_share"):
        assert torch.equal(getattr(trace, name), getattr(again, name))
    assert (again.edge_kept is not None) == keep_masks
    if keep_masks:
        assert torch.equal(trace.edge_kept, again.edge_kept)
        assert again.edge_kept.dtype == torch.bool
    assert again.settings == json.loads(json.dumps(trace.settings))
    assert str(again.summary()) == str(trace.summary())


def test_datatree_groups(grid):
    tree = BOTH.sample(grid, draws=12, chains=2).to_datatree()
    assert set(tree.children) == {"posterior", "sample_stats", "constant_data"}
    assert tree["posterior"]["edge_change"].dims == ("chain", "draw")
    assert tree["sample_stats"]["lp"].shape == (2, 12)


def test_save_refuses_other_suffixes(grid, tmp_path):
    with pytest.raises(RequestError, match=r"ends in \.nc or \.npz"):
        BOTH.sample(grid, draws=5).save(tmp_path / "trace.pkl")
    with pytest.raises(RequestError, match="a file that exists"):
        Trace.load(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strength": 1.2}, r"'strength' must be a number in \[0, 1\]; got 1.2"),
        ({"strength": float("nan")}, "'strength'"),
        ({"spread_floor": 0.0}, "'spread_floor' must be a finite number above 0; got 0.0"),
        ({"spread_slope": -0.5, "spread_floor": 0.5}, "'spread_slope' must be a finite number above -0.5"),
        ({"ego_weight": -1}, "'ego_weight'"),
        ({"strength": 0.6, "strength_slope": 0.5}, r"'strength_slope' must be a number in \[-0.6, 0.4\]; got 0.5"),
        ({"count_weight": "much"}, "'count_weight' must be a finite number of at least 0; got 'much'"),
    ],
)
def test_bad_terms(options, words):
    with pytest.raises(RequestError, match=words):
        EgoTerm(**options)


def test_slopes_to_the_very_ends_are_allowed():
    """Pairs of shares that add up to 1, and to 0, whatever their sum is in floating point."""
    sure_and_unsure = torch.tensor([0.0, 1.0], dtype=torch.float64)
    for share in range(101):
        strength = share / 100
        rising = EgoTerm(strength=strength, strength_slope=(100 - share) / 100)
        falling = EgoTerm(strength=strength, strength_slope=-strength)
        assert rising.strengths(sure_and_unsure).tolist() == pytest.approx([strength, 1.0])
        assert falling.strengths(sure_and_unsure).tolist() == pytest.approx([strength, 0.0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"edges": None}, "one part must be dropped"),
        ({"edges": 0.3}, "'edges' must be an EgoTerm or None; got 0.3"),
        ({"hops": 0}, "'hops' must be a whole number of at least 1; got 0"),
        ({"moves": "teleport"}, "'moves' must be one of resample, flip, swap, mixture; got 'teleport'"),
        ({"accept": "maybe"}, "'accept' must be one of blocks, joint; got 'maybe'"),
        ({"step_size": 0}, "'step_size'"),
        ({"step_size": (0.1, 0.2, 0.3)}, "'step_size' must be a number or a pair"),
        ({"backend": "abacus"}, "'backend' must be one of"),
    ],
)
def test_bad_samplers(options, words):
    with pytest.raises(RequestError, match=words):
        MHAug(**{"edges": EgoTerm(), **options})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"draws": 0}, "'draws' must be a whole number of at least 1; got 0"),
        ({"warmup": -1}, "'warmup'"),
        ({"thin": 0}, "'thin'"),
        ({"chains": 0}, "'chains'"),
        ({"seed": -1}, "'seed'"),
        ({"until_ess": 0}, "'until_ess' must be a finite number above 0; got 0"),
        ({"entropy": torch.zeros(3)}, r"'entropy' must be a tensor of shape \(20,\); got \(3,\)"),
        ({"entropy": torch.full((20,), 1.5)}, r"'entropy' must be in \[0, 1\] everywhere; got '1.5 to 1.5'"),
    ],
)
def test_bad_requests(grid, options, words):
    with pytest.raises(RequestError, match=words):
        BOTH.sample(grid, **{"draws": 2, **options})


def test_entropy_widens_the_target(grid):
    """With a steep slope, certain nodes hold the chain near μ and uncertain ones let it go."""
    sampler = MHAug(edges=EgoTerm(strength=0.1, spread_floor=0.05, spread_slope=50.0), step_size=0.2)
    certain = sampler.sample(grid, draws=300, entropy=torch.zeros(20)).ego_edge_change
    unsure = sampler.sample(grid, draws=300, entropy=torch.ones(20)).ego_edge_change
    assert float(unsure.mean()) > float(certain.mean()) + 0.2


def test_graphs_with_little_in_them():
    empty = Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=3)
    trace = BOTH.sample(empty, draws=10, chains=2)
    assert trace.summary().units == {"edges": 0, "nodes": 3}
    one = Data(edge_index=torch.tensor([[0], [0]]), num_nodes=1)
    assert float(MHAug(edges=EgoTerm()).sample(one, draws=5, chains=1).edge_change.max()) == 0.0
    with pytest.raises(RequestError, match=r"'data.num_nodes' must be a whole number of at least 1; got 0"):
        BOTH.sample(Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=0))


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20),
    st.integers(1, 3),
    st.sampled_from(["blocks", "joint"]),
    st.integers(0, 1000),
)
def test_invariants_on_any_graph(pairs, hops, accept, seed):
    data = Data(edge_index=torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).T, num_nodes=8)
    before = data.edge_index.clone()
    moves = "resample" if accept == "joint" else "mixture"
    sampler = MHAug(edges=EgoTerm(), nodes=EgoTerm(), hops=hops, accept=accept, moves=moves, step_size=0.3)
    trace = sampler.sample(data, draws=6, warmup=0, chains=2, seed=seed, keep_masks=True)
    for name in ("edge_change", "node_change", "ego_edge_change", "ego_node_change"):
        values = getattr(trace, name)
        assert bool(((values >= 0) & (values <= 1)).all())
    assert trace.edge_kept.shape[-1] == trace.unit_edges.shape[1]
    assert bool(trace.log_prob.isfinite().all())
    assert torch.equal(data.edge_index, before)


def test_a_task_stands_for_its_graph_and_other_things_are_refused():
    task = load_dataset("planted-partition")
    one, other = (BOTH.sample(given, draws=3, warmup=1) for given in (task, task.graph))
    assert torch.equal(one.log_prob, other.log_prob)
    with pytest.raises(RequestError, match="'data' must be a homogeneous graph, or a NodeTask; got 'list'"):
        BOTH.sample([task.graph])


def test_nothing_as_long_as_the_trace_is_made_at_a_draw(grid, monkeypatch):
    """Whatever the draws, as many tensors of zeros: a draw once made two for each kind of move."""
    made, zeros_like = [], torch.zeros_like
    monkeypatch.setattr(torch, "zeros_like", lambda *args, **options: made.append(1) or zeros_like(*args, **options))
    counts = []
    for draws in (5, 50):
        made.clear()
        BOTH.sample(grid, draws=draws, warmup=1)
        counts.append(len(made))
    assert counts[0] == counts[1]


def test_sampling_takes_one_thread_on_a_small_graph(grid, monkeypatch):
    before, seen = torch.get_num_threads(), []
    record = Recorder.record
    monkeypatch.setattr(Recorder, "record", lambda *args: seen.append(torch.get_num_threads()) or record(*args))
    torch.set_num_threads(3)
    try:
        BOTH.sample(grid, draws=2, warmup=1)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 1]


def test_a_trace_says_what_it_is_in_one_line(grid):
    trace = BOTH.sample(grid, draws=5, warmup=1, chains=2, seed=7)
    assert repr(trace) == f"Trace(chains=2, draws=5, edges={trace.edge_flips.shape[1]}, nodes=20, seed=7)"
