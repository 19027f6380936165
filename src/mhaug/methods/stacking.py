"""Several settings of one method as one method: numbers that differ become tensors [R]."""

from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import fields
from typing import Any

import torch

from mhaug import checks
from mhaug.methods.method import Method
from mhaug.per_replica import merged


def shape_of(method: Method) -> Hashable:
    """What methods must have in common to be stacked: all but their real numbers."""
    settings: Any = vars(method)
    names = {field.name for field in fields(method) if field.type is not float}  # type: ignore[arg-type]
    return type(method), tuple(sorted((name, settings[name]) for name in names))


def stack_methods(methods: Sequence[Method], *, device: torch.device | str = "cpu") -> Method:
    """One method that does to replica r what `methods[r]` would do."""
    alike = all(shape_of(method) == shape_of(methods[0]) for method in methods)
    checks.require(alike, "methods", "of one kind, alike in all but real numbers", methods)
    together = copy(methods[0])
    for field in fields(together):  # type: ignore[arg-type]
        if field.type is float:
            value = merged([float(getattr(method, field.name)) for method in methods], device=device)
            # frozen for everyone else; each of the numbers was checked when its own method was made
            object.__setattr__(together, field.name, value)
    return together
