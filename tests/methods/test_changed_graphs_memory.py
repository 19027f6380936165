"""What a whole step of the methods that change edges holds at most."""

import pytest
import torch
from torch_geometric.data import Data

from methods.allocations import LargestTensor
from mhaug import rng
from mhaug.backbones.catalogue import build_backbone
from mhaug.data.splits import per_class_split
from mhaug.data.task import NodeTask
from mhaug.methods.catalogue import build_method
from mhaug.methods.method import Problem
from mhaug.methods.parts.top_pairs import BLOCK


def sparse_problem(nodes: int = 6000, features: int = 2000) -> Problem:
    """Features that stay sparse, five edges a node."""
    generator = torch.Generator().manual_seed(0)
    edges = torch.randint(nodes, (2, 5 * nodes), generator=generator)
    x = torch.zeros(nodes, features).index_put_(
        (torch.arange(nodes).repeat(5), torch.randint(features, (5 * nodes,), generator=generator)), torch.tensor(1.0)
    )
    classes = torch.randint(3, (nodes,), generator=generator)
    data = Data(x=x, edge_index=torch.cat([edges, edges.flip(0)], 1), y=classes)
    return Problem.of(NodeTask.from_data(data, split=per_class_split(classes, train=5, validation=10), name="sparse"))


SMALL_STEPS = {
    "ada-edge": {"rounds": 2, "round_updates": 1, "add_confidence": 0.3, "remove_confidence": 0.3},
    "gaug-m": {"encoder_epochs": 1, "add_share": 0.05},
    "gaug-o": {"predictor_warmup": 1, "classifier_warmup": 0, "absent_share": 2.0},
}


@pytest.mark.parametrize("method", SMALL_STEPS)
def test_no_step_holds_a_tensor_of_all_pairs_or_of_dense_features(method):
    """6,000 nodes: 36,000,000 scores, 12,000,000 features; the largest allowed is a block of 2²² scores."""
    problem = sparse_problem()
    network = build_backbone("gcn", 2000, 3, hidden=16, rng=rng.stream(0, "w"))
    with LargestTensor() as largest:
        learner = build_method(method, **SMALL_STEPS[method]).begin(problem, network, seed=0)
        for _ in range(2):
            learner.step(1).losses.total.backward()
        learner.predict()
    assert largest.elements <= BLOCK
