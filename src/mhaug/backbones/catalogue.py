"""BACKBONES: the table of built-in networks, and the one way to build one by name."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from mhaug import checks
from mhaug.backbones.gat import GAT
from mhaug.backbones.gcn import GCN
from mhaug.backbones.layer_stack import LayerStack
from mhaug.backbones.sage import SAGE

BACKBONES: dict[str, Callable[..., LayerStack]] = {"gcn": GCN, "sage": SAGE, "gat": GAT}

_SIZES, _RATES = {"hidden", "layers", "heads"}, {"dropout", "input_dropout", "attention_dropout"}


def backbone_options(name: str) -> tuple[str, ...]:
    """The names of the options that a backbone takes, such as `hidden` or `dropout`."""
    checks.one_of(name, "backbone", BACKBONES)
    parameters = inspect.signature(BACKBONES[name]).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)


def checked_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a backbone but `rng`: those given, and the usual values of the others.

    Refuses what the network would refuse, without the network: a run's settings are checked before its graph is read.
    """
    allowed = backbone_options(name)
    for option in options:
        checks.one_of(option, f"options of backbone {name}", allowed)
    usual = inspect.signature(BACKBONES[name]).parameters
    whole = {option: options.get(option, usual[option].default) for option in allowed if option != "rng"}
    for option in _SIZES & whole.keys():
        checks.whole_number(whole[option], option, 1)
    for option in _RATES & whole.keys():
        checks.number_in(whole[option], option, 0.0, 1.0)
    heads = whole.get("heads", 1)
    checks.require(whole["hidden"] % heads == 0, "hidden", f"a multiple of the {heads} heads", whole["hidden"])
    return whole


def build_backbone(name: str, in_features: int, num_classes: int, **options: Any) -> LayerStack:
    """A backbone of the table. `options` are its keyword arguments, `rng` (for the initial weights) among them."""
    allowed = backbone_options(name)
    for option in options:
        checks.one_of(option, f"options of backbone {name}", allowed)
    return BACKBONES[name](in_features, num_classes, **options)
