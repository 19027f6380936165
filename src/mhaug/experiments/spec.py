"""`RunSpec`: everything that decides a run."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
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
        pairs = self.settings.items() if isinstance(self.settings, Mapping) else self.settings
        # a sorted tuple instead of a dict: a spec is a key
        plain = ((str(name), tuple(value) if isinstance(value, list) else value) for name, value in pairs)
        object.__setattr__(self, "settings", tuple(sorted(plain, key=lambda pair: pair[0])))
        Plan.of(self.backbone, self.method, self.all_settings())

    def own_settings(self) -> dict[str, Any]:
        """The overrides."""
        return dict(self.settings)

    def all_settings(self) -> dict[str, Any]:
        """Presets and overrides: with the names and the seed, they decide the run completely."""
        return {**preset_settings(self.dataset, self.backbone, self.method), **self.own_settings()}

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        names = ("dataset", "backbone", "method", "seed", "split")
        return {**{name: getattr(self, name) for name in names}, "settings": self.own_settings()}

    @classmethod
    def from_json(cls, record: str | Mapping[str, Any]) -> "RunSpec":
        """What `to_json` wrote, as text or as an object."""
        return cls(**(json.loads(record) if isinstance(record, str) else record))
