"""Modules of the user's own in batches: what they see, and how far they look."""

import pytest
import torch
from torch_geometric.nn import GCNConv, GraphSAGE, SAGEConv, TAGConv

from methods.problems import planted_task
from mhaug import NodeClassifier
from mhaug.checks import RequestError
from mhaug.data.toy_graphs import path_graph
from mhaug.minibatch import NeighbourSampler, inference
from mhaug.minibatch.large_graph import LargeGraph


def test_a_module_of_the_users_own():
    """PyG's own layers see the kept columns of a batch, as they would those of a NeighborLoader."""
    torch.manual_seed(0)
    clf = NodeClassifier("drop-edge", GraphSAGE(8, 16, 2, 3), batch_size=8, fan_outs="5,5", max_updates=30)
    clf.fit(planted_task())
    assert clf.result_.test_accuracy > 0.6
    assert clf.score(planted_task()) == pytest.approx(clf.result_.test_accuracy)


class Deep(torch.nn.Module):
    """Four hops: two of a layer that looks so far, and two more."""

    def __init__(self):
        super().__init__()
        self.first, self.rest = TAGConv(8, 16, K=2), torch.nn.ModuleList([SAGEConv(16, 16), GCNConv(16, 3)])

    def forward(self, x, edge_index):
        x = self.first(x, edge_index).tanh()
        return self.rest[1](self.rest[0](x, edge_index).tanh(), edge_index)


@pytest.mark.parametrize("fan_outs", [-1, "3,3"])
def test_a_deep_module_is_evaluated_from_all_its_hops(fan_outs):
    """On a path, where a node is not near another by chance; the last layer but one asks for degrees, too."""
    data = path_graph(12)
    data.x, data.y = torch.randn(12, 8, generator=torch.Generator().manual_seed(0)), torch.arange(12) % 3
    data.train_mask, data.val_mask = torch.arange(12) < 8, torch.arange(12) >= 8
    torch.manual_seed(0)
    for module, hops in ((Deep(), 4), (GraphSAGE(8, 16, 3, 3), 3)):
        clf = NodeClassifier("vanilla", module, batch_size=2, fan_outs=fan_outs, max_updates=2).fit(data)
        assert clf.model_.hops == hops
        in_parts = NeighbourSampler(LargeGraph.of(data).edges, [-1] * hops).sample(torch.tensor([0]))
        assert in_parts.num_nodes == hops + 1 < 12
        with torch.no_grad(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(inference, "PART", 8)  # a node a part
            whole = clf.model_.module.eval()(data.x, data.edge_index).softmax(1)
            assert torch.allclose(clf.predict_proba(data), whole, atol=1e-5)


def test_a_module_whose_layers_cannot_be_counted_needs_a_list():
    class Product(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = torch.nn.Linear(8, 3)

        def forward(self, x, edge_index):
            return self.weights(x.index_add(0, edge_index[1], x[edge_index[0]]))

    with pytest.raises(RequestError, match=r"'fan_outs' must be a list, one number a hop, for .*; got 10"):
        NodeClassifier("vanilla", Product(), batch_size=8).fit(planted_task())
    NodeClassifier("vanilla", Product(), batch_size=8, fan_outs=(5,), max_updates=1).fit(planted_task())
