"""The layers of a network on nodes that are alone: the same weights, and no messages.

A node is then its own only neighbour. This is the fully-connected twin of GraphMix and the classifier of GRAND:

- GCN: H W + b;
- SAGE: H (W_l + W_r) + b, the neighbour mean being the node itself;
- GAT: H W + b for each head (attention has nothing to choose from); heads side by side or averaged as in the layer.
"""

from torch import Tensor, nn

from mhaug import checks
from mhaug.backbones.dropout import dropout
from mhaug.backbones.gat import GATLayer
from mhaug.backbones.layer_stack import Layer, LayerStack
from mhaug.backbones.sage import SAGELayer
from mhaug.per_replica import aligned


def own_part(layer: Layer, transformed: Tensor) -> Tensor:
    """What a lone node receives, before the bias. Linear, and row by row."""
    if isinstance(layer, SAGELayer):
        neighbours, own = transformed.chunk(2, dim=-1)
        return neighbours + own
    if isinstance(layer, GATLayer) and not layer.concat:
        return transformed.unflatten(-1, (layer.heads, -1)).mean(-2)
    return transformed


def bias_of(layer: Layer) -> Tensor:
    """The bias, which every layer adds last."""
    assert isinstance(layer.bias, nn.Parameter)
    return layer.bias


def later_layers_alone(network: LayerStack, hidden: Tensor) -> Tensor:
    """Logits [N, ..., C] from what the first layer gave, [N, ..., D]; ReLU and dropout between as in the network."""
    _, *rest = stack_of(network)
    for layer in rest:
        hidden = dropout(hidden.relu(), aligned(network.dropout, 1)) if network.training else hidden.relu()
        hidden = own_part(layer, layer.transform(hidden)) + bias_of(layer)
    return hidden


def stack_of(network: nn.Module) -> list[Layer]:
    """The layers, first to last; a user's own module has none that could be taken apart."""
    rule = "'gcn', 'sage' or 'gat': this method takes the layers apart"
    checks.require(isinstance(network, LayerStack), "backbone", rule, type(network).__name__)
    assert isinstance(network, LayerStack)
    return [layer for layer in network.layers if isinstance(layer, Layer)]
