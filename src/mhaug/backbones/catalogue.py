"""BACKBONES: the table of built-in networks, and the one way to build one by name."""

import inspect
from collections.abc import Callable
from typing import Any

from mhaug import checks
from mhaug.backbones.gat import GAT
from mhaug.backbones.gcn import GCN
from mhaug.backbones.layer_stack import LayerStack
from mhaug.backbones.sage import SAGE

BACKBONES: dict[str, Callable[..., LayerStack]] = {"gcn": GCN, "sage": SAGE, "gat": GAT}


def backbone_options(name: str) -> tuple[str, ...]:
    """The names of the options that a backbone takes, such as `hidden` or `dropout`."""
    checks.one_of(name, "backbone", BACKBONES)
    parameters = inspect.signature(BACKBONES[name]).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)


def build_backbone(name: str, in_features: int, num_classes: int, **options: Any) -> LayerStack:
    """A backbone of the table. `options` are its keyword arguments, `rng` (for the initial weights) among them."""
    allowed = backbone_options(name)
    for option in options:
        checks.one_of(option, f"options of backbone {name}", allowed)
    return BACKBONES[name](in_features, num_classes, **options)
