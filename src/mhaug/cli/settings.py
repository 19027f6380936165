"""Words that stand for settings and seeds."""

import json
from typing import Any

from mhaug.checks import RequestError

_SUCH_AS = {"--set": "dropout=0.8", "--grid": "dropout=0.5,0.8", "--slurm": "partition=gpu"}


def parse_settings(words: list[str], option: str = "--set") -> dict[str, Any]:
    """["dropout=0.8", "moves=flip"] -> {"dropout": 0.8, "moves": "flip"}. Values are JSON, or else plain words."""
    settings = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not (equals and name.strip() and value.strip()):
            raise RequestError(f"{option} must be name=value, such as {_SUCH_AS[option]}; got {word!r}")
        try:
            settings[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            settings[name.strip()] = value.strip()
    return settings


def parse_grid(words: list[str]) -> dict[str, list[Any]]:
    """["dropout=0.5,0.8"] -> {"dropout": [0.5, 0.8]}."""
    grid = {}
    for word in words:
        name, _, values = word.partition("=")
        each = [f"{name}={value}" for value in values.split(",")] if values else [word]
        grid[name.strip()] = [value for one in each for value in parse_settings([one], "--grid").values()]
    return grid


def parse_seeds(words: str) -> list[int]:
    """ "0-9" or "0,3,5" or both, in the order given and without repeats."""
    seeds: list[int] = []
    for part in words.split(","):
        low, dash, high = part.strip().partition("-")
        if not (low.isdigit() and (high.isdigit() or not dash)) or (dash and int(high) < int(low)):
            raise RequestError(f"--seeds must be whole numbers like 0-9 or 0,3,5; got {words!r}")
        seeds += range(int(low), int(high or low) + 1)
    return list(dict.fromkeys(seeds))
