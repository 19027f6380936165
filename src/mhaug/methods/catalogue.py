"""The methods by name. To add one: a file beside this, and a row here; the contract test picks it up."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from mhaug import checks
from mhaug.methods.ada_edge import AdaEdge
from mhaug.methods.bvat import BVAT
from mhaug.methods.drop_edge import DropEdge
from mhaug.methods.drop_node import DropNode
from mhaug.methods.fixed_rates import FixedRates
from mhaug.methods.gaug_m import GAugM
from mhaug.methods.gaug_o import GAugO
from mhaug.methods.grand import Grand
from mhaug.methods.graph_mix import GraphMix
from mhaug.methods.method import Method
from mhaug.methods.mh_aug import MHAugNoReg, MHAugReg
from mhaug.methods.ssl import SSL
from mhaug.methods.uda import UDA
from mhaug.methods.vanilla import Vanilla

METHODS: dict[str, Callable[..., Method]] = {
    "vanilla": Vanilla,
    "drop-edge": DropEdge,
    "drop-node": DropNode,
    "ada-edge": AdaEdge,
    "mh-aug-no-reg": MHAugNoReg,
    "gaug-m": GAugM,
    "gaug-o": GAugO,
    "ssl": SSL,
    "bvat": BVAT,
    "uda": UDA,
    "graph-mix": GraphMix,
    "grand": Grand,
    "fixed-rates": FixedRates,
    "mh-aug": MHAugReg,
}


def method_options(name: str) -> tuple[str, ...]:
    """The names of the hyper-parameters of a method."""
    checks.one_of(name, "method", METHODS)
    return tuple(field.name for field in fields(METHODS[name]))  # type: ignore[arg-type]


def build_method(name: str, **options: Any) -> Method:
    """A method of the table with these hyper-parameters."""
    allowed = method_options(name)
    for option in options:
        checks.one_of(option, f"settings of method {name}", allowed)
    return METHODS[name](**options)
