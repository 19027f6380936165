import pytest
import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.transforms import Compose
from torch_geometric.utils import is_undirected

from mhaug import EgoTerm, MetropolisDrop, MHAug, load_dataset
from mhaug.checks import RequestError
from mhaug.data.toy_graphs import grid_graph

SAMPLER = MHAug(edges=EgoTerm(strength=0.4), nodes=EgoTerm(strength=0.3), step_size=0.3)


@pytest.fixture
def data():
    grid = grid_graph(4, 4)
    edges = grid.edge_index.shape[1]
    grid.x = torch.arange(32.0).reshape(16, 2) + 1
    # every edge's attribute says which edge it is
    grid.edge_attr = grid.edge_index.T.float()
    grid.edge_weight = grid.edge_index[0] * 100.0 + grid.edge_index[1]
    grid.edge_label_of_mine = torch.arange(edges)
    grid.y = torch.arange(16)
    return grid


def test_edges_and_all_that_belongs_to_them_leave_together(data):
    transform = MetropolisDrop(SAMPLER, seed=1, steps=5)
    for _ in range(5):
        view = transform(data)
        assert view.edge_index.shape[1] < data.edge_index.shape[1]
        assert torch.equal(view.edge_attr, view.edge_index.T.float())
        assert torch.equal(view.edge_weight, view.edge_index[0] * 100.0 + view.edge_index[1])
        assert torch.equal(data.edge_index[:, view.edge_label_of_mine], view.edge_index)
        assert is_undirected(view.edge_index)
        assert view.num_nodes == 16
        assert torch.equal(view.y, data.y)


def test_dropped_nodes_are_zeroed_and_the_rest_scaled(data):
    view = MetropolisDrop(SAMPLER, seed=0, steps=30)(data)
    dropped = (view.x == 0).all(1)
    assert 0 < int(dropped.sum()) < 16
    scale = 16 / int((~dropped).sum())
    torch.testing.assert_close(view.x[~dropped], data.x[~dropped] * scale)


def test_the_input_is_never_changed(data):
    before = data.clone()
    transform = MetropolisDrop(SAMPLER, steps=10)
    transform(data)
    transform(data)
    assert set(data.keys()) == set(before.keys())
    for key in before.keys():  # noqa: SIM118
        assert torch.equal(data[key], before[key]), key


def test_each_call_moves_on_and_seeds_repeat(data):
    first, again = MetropolisDrop(SAMPLER, seed=2), MetropolisDrop(SAMPLER, seed=2)
    one = [first(data).edge_index for _ in range(6)]
    two = [again(data).edge_index for _ in range(6)]
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    assert any(not torch.equal(one[0], other) for other in one[1:])


def test_another_graph_starts_afresh(data):
    transform = MetropolisDrop(SAMPLER, seed=0)
    transform(data)
    small = transform(grid_graph(2, 2))
    assert small.num_nodes == 4
    assert bool((small.edge_index < 4).all())


def test_isolated_nodes_and_no_features():
    data = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=4)
    view = MetropolisDrop(SAMPLER, steps=3)(data)
    assert view.num_nodes == 4
    assert view.x is None


def test_composes_and_shows_its_parameters(data):
    assert Compose([MetropolisDrop(SAMPLER)])(data).num_nodes == 16
    assert repr(MetropolisDrop(SAMPLER, seed=3)).startswith("MetropolisDrop(MHAug(edges=EgoTerm(strength=0.4")


def test_a_task_stands_for_its_graph():
    task = load_dataset("planted-partition")
    one, other = (MetropolisDrop(SAMPLER, seed=1, steps=5)(given) for given in (task, task.graph))
    assert torch.equal(one.edge_index, other.edge_index)
    assert one.num_edges < task.graph.num_edges


def test_what_is_no_sampler_is_refused():
    with pytest.raises(RequestError, match="'sampler' must be an MHAug; got 'EgoTerm'"):
        MetropolisDrop(SAMPLER.edges)


def test_other_kinds_of_data_are_refused():
    with pytest.raises(
        RequestError, match=r"'data' must be a torch_geometric Data \(homogeneous\); got 'HeteroData'"
    ):
        MetropolisDrop(SAMPLER)(HeteroData())
