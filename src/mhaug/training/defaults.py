"""Every setting that a run has, with the value that holds where nobody names it."""

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from mhaug.backbones.catalogue import BACKBONES
from mhaug.methods.catalogue import METHODS
from mhaug.minibatch.batching import Batching
from mhaug.training.plan import known_settings
from mhaug.training.result import FitConfig


def default_settings(backbone: str, method: str) -> dict[str, Any]:
    """What backbone, method, training and batching say of themselves, by name."""
    parameters = inspect.signature(BACKBONES[backbone]).parameters.values()
    found = {each.name: each.default for each in parameters if each.kind is each.KEYWORD_ONLY}
    kinds: tuple[Any, ...] = (METHODS[method], FitConfig, Batching)
    found |= {each.name: each.default for kind in kinds for each in fields(kind)}
    return known_settings(backbone, method, found)


def every_setting(backbone: str, method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """These settings, and the defaults of all others."""
    return {**default_settings(backbone, method), **settings}
