"""Several networks of one shape as one network: parameters [R, ...], logits [R, V, C]."""

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor

from mhaug import checks
from mhaug.backbones.layer_stack import LayerStack
from mhaug.per_replica import merged

RATES = ("dropout", "input_dropout")


def stack_networks(networks: Sequence[LayerStack]) -> LayerStack:
    """One network that computes what each of these would. Their dropout rates may differ, their sizes may not."""
    shapes = [[tuple(p.shape) for p in network.parameters()] for network in networks]
    checks.require(all(shape == shapes[0] for shape in shapes), "networks", "of one shape", shapes)
    together = deepcopy(networks[0])
    together.replicas = len(networks)
    for name, parameter in together.named_parameters():
        parameter.data = torch.stack([network.get_parameter(name).data for network in networks])
    for rate in RATES:
        value = merged([getattr(network, rate) for network in networks], device=parameter.device)
        if isinstance(value, Tensor):
            delattr(together, rate)
            # moves with the module, and is no part of what is saved
            together.register_buffer(rate, value, persistent=False)
    return together


def replica(weights: dict[str, Tensor], index: int) -> dict[str, Tensor]:
    """The state dict of one network out of that of all."""
    return {name: value[index].clone() for name, value in weights.items()}
