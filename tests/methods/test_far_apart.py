"""Far-apart nodes, against going through all nodes one by one."""

import pytest
import torch
from torch_geometric.data import Data

from mhaug.backbones.graph_input import GraphInput
from mhaug.data.toy_graphs import planted_partition
from mhaug.methods.parts.far_apart import far_apart


def fields_of(edge_index: torch.Tensor, num_nodes: int, reach: int) -> torch.Tensor:
    """Who is seen by whom within `reach` hops, bool [V, V], by powers of the dense matrix."""
    matrix = torch.eye(num_nodes)
    matrix[edge_index[1], edge_index[0]] = 1.0
    return torch.linalg.matrix_power(matrix, reach) > 0


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("most", [4, 1000])
def test_far_apart_is_what_going_through_all_nodes_finds(directed, most):
    data = planted_partition(3, 40, p_in=0.04, p_out=0.004, features=2, seed=5)
    edges = data.edge_index[:, data.edge_index[0] < data.edge_index[1]] if directed else data.edge_index
    sees = fields_of(edges, 120, reach=2).float()
    overlap = sees @ sees.T > 0
    structure = GraphInput.from_data(Data(x=data.x, edge_index=edges)).connections.with_self.structure
    keys = torch.rand(120, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    expected: list[int] = []
    for node in keys.argsort(descending=True).tolist():
        if len(expected) < most and not any(overlap[node, other] for other in expected):
            expected.append(node)
    chosen = far_apart(structure, keys, reach=2, most=most)
    assert chosen.nonzero().squeeze(1).tolist() == sorted(expected)
    assert 1 < len(expected) < 120
    both = torch.stack([keys, 1.0 - keys], 1)
    assert torch.equal(far_apart(structure, both, reach=2, most=most, ask=False)[:, 0], chosen)


def test_in_a_dense_graph_one_node_is_all_that_fits():
    """The published sampler tries until it has a hundred, which here would be for ever."""
    edges = torch.combinations(torch.arange(30)).T
    graph = GraphInput.from_data(Data(x=torch.ones(30, 1), edge_index=torch.cat([edges, edges.flip(0)], 1)))
    keys = torch.rand(30, dtype=torch.float64)
    chosen = far_apart(graph.connections.with_self.structure, keys, reach=2, most=100)
    assert chosen.nonzero().tolist() == [[int(keys.argmax())]]
