"""Lone nodes: the same numbers as the network itself gives where every node has only a self-loop."""

import pytest
import torch
from torch import nn

from backbones.tiny_graphs import FEATURES, Case, example
from mhaug.backbones.alone import bias_of, later_layers_alone, own_part, stack_of
from mhaug.backbones.catalogue import BACKBONES, build_backbone
from mhaug.checks import RequestError


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("name", BACKBONES)
def test_it_is_the_network_on_a_graph_of_self_loops(name: str, layers: int) -> None:
    case = example()
    loops = torch.arange(len(case.x)).expand(2, -1)
    network = build_backbone(name, FEATURES, 3, hidden=8, layers=layers).double().eval()
    for parameter in network.parameters():
        nn.init.normal_(parameter)
    first, *_ = stack_of(network)
    hidden = own_part(first, first.transform(case.x)) + bias_of(first)
    expected = network(Case(case.x, loops, case.view).graph)
    torch.testing.assert_close(later_layers_alone(network, hidden), expected)


def test_dropout_of_everything_leaves_the_last_bias() -> None:
    network = build_backbone("gcn", FEATURES, 2, hidden=4, dropout=1.0)
    nn.init.constant_(bias_of(stack_of(network)[1]), 3.0)
    assert torch.equal(later_layers_alone(network, torch.randn(6, 4)), torch.full((6, 2), 3.0))


def test_a_module_of_the_users_own_is_refused() -> None:
    with pytest.raises(RequestError, match="'backbone' must be 'gcn', 'sage' or 'gat'"):
        stack_of(nn.Linear(1, 1))
