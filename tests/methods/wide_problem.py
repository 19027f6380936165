"""A small problem with more features than the first layer has outputs, most of them 0: these stay sparse."""

import torch
from torch_geometric.data import Data

from methods.problems import planted_task
from mhaug.backbones.catalogue import build_backbone
from mhaug.data.task import NodeTask
from mhaug.data.toy_graphs import planted_partition
from mhaug.methods.catalogue import build_method
from mhaug.methods.method import Learner, Problem


def wide_task(features: int = 60) -> NodeTask:
    """The planted graph; all that its features tell is in the first few."""
    data = planted_partition(3, 40, p_in=0.15, p_out=0.01, features=8, noise=1.5, seed=1)
    dense = torch.zeros(120, features)
    dense[:, :5] = data.x[:, :5]  # below a tenth: kept sparse
    return NodeTask.from_data(Data(x=dense, edge_index=data.edge_index, y=data.y), split=planted_task().split)


def begin_wide(method: str, task: NodeTask, backbone: str = "gcn", *, dropout=0.5, seed=0, **settings) -> Learner:
    problem = Problem.of(task)
    weights = torch.Generator().manual_seed(seed)
    network = build_backbone(backbone, problem.graph.num_features, 3, hidden=8, dropout=dropout, rng=weights)
    torch.manual_seed(seed)
    return build_method(method, **settings).begin(problem, network, seed=seed)
