"""`RunSpec`: everything that decides a run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from mhaug import checks
from mhaug.methods.presets import preset_settings
from mhaug.training.plan import Plan

Pairs = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class RunSpec:
    """One run: frozen, hashable, JSON. `settings` override the presets of its cell."""

    dataset: str = "cora"
    backbone: str = "gcn"
    method: str = "mh-aug"
    seed: int = 0
    split: str = "public"
    settings: Mapping[str, Any] | Pairs = field(default=())

    def __post_init__(self) -> None:
        checks.whole_number(self.seed, "seed", 0)
        checks.one_of(self.split, "split", ("public", "random"))
        object.__setattr__(self, "settings", _sorted_pairs(self.settings))
        for name, value in self.own_settings().items():
            checks.require(
                _is_plain(value), str(name), "a number, a word, true, false, null or a list of them", value
            )
        self.plan()

    def plan(self) -> Plan:
        """The parts of the run; refuses names and values that are wrong today."""
        return Plan.of(self.backbone, self.method, self.given_settings())

    def own_settings(self) -> dict[str, Any]:
        """The overrides."""
        return dict(self.settings)

    def given_settings(self) -> dict[str, Any]:
        """Presets and overrides."""
        return {**preset_settings(self.dataset, self.backbone, self.method), **self.own_settings()}

    def all_settings(self) -> dict[str, Any]:
        """Every setting by name, also the defaults: with the names and the seed, they decide the run completely."""
        return self.plan().settings()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        names = ("dataset", "backbone", "method", "seed", "split")
        return {**{name: getattr(self, name) for name in names}, "settings": self.own_settings()}

    @classmethod
    def from_json(cls, record: str | Mapping[str, Any]) -> "RunSpec":
        """What `to_json` wrote, as text or as an object.

        Not held against the methods of today: a record outlives them. `plan` does that, before anything is run.
        """
        given = json.loads(record) if isinstance(record, str) else record
        spec = object.__new__(cls)
        for each in fields(cls):
            object.__setattr__(spec, each.name, given.get(each.name, each.default))
        object.__setattr__(spec, "settings", _sorted_pairs(spec.settings))
        return spec


def _sorted_pairs(settings: Mapping[str, Any] | Pairs) -> Pairs:
    """A sorted tuple instead of a dict: a spec is a key."""
    pairs = settings.items() if isinstance(settings, Mapping) else settings
    return tuple(sorted(((str(name), _frozen(value)) for name, value in pairs), key=lambda pair: pair[0]))


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)
