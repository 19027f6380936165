"""What a search may choose from: `search_space.toml`, checked against what each method owns."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from mhaug import checks
from mhaug.training.plan import known_settings

Space = dict[str, Any]  # name -> list of values, or {"low", "high"} and perhaps "log"


def search_space(backbone: str, method: str) -> Space:
    """The common part and the method's own."""
    table = _table()
    space = {**table["common"], **table.get(method, {})}
    unknown = set(space) - set(known_settings(backbone, method, space))
    checks.require(not unknown, "search space", f"made of settings of {method} with {backbone}", sorted(unknown))
    return space


def suggest(trial: Any, space: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of one Optuna trial."""
    chosen = {}
    for name, choice in space.items():
        if isinstance(choice, list):
            chosen[name] = trial.suggest_categorical(name, choice)
        else:
            chosen[name] = trial.suggest_float(name, choice["low"], choice["high"], log=choice.get("log", False))
    return chosen


def within(settings: Mapping[str, Any], space: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `settings` that the space could have given: where a search may begin."""
    inside = {}
    for name, choice in space.items():
        value = settings.get(name)
        fits = (
            value in choice
            if isinstance(choice, list)
            else value is not None and choice["low"] <= value <= choice["high"]
        )
        if fits:
            inside[name] = value
    return inside


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files("mhaug.experiments") / "search_space.toml").read_text(encoding="utf-8"))
