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


def widened(space: Space, settings: Mapping[str, Any]) -> Space:
    """The space, and the values that these settings have: a search must be able to begin at the presets."""
    wide: Space = {}
    for name, choice in space.items():
        value = settings[name]
        if isinstance(choice, list):
            wide[name] = choice if value in choice else [*choice, value]
        else:
            checks.number_in(value, name, 0.0, open_low=choice.get("log", False))
            wide[name] = {**choice, "low": min(choice["low"], value), "high": max(choice["high"], value)}
    return wide


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files("mhaug.experiments") / "search_space.toml").read_text(encoding="utf-8"))
