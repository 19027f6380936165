"""What every rank knows of a divided graph: a few numbers a part, whatever the size of the graph."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from mhaug import checks
from mhaug.sampling.sampler import MHAug


@dataclass(frozen=True)
class TargetFacts:
    """How one part of the target (edges or nodes) is divided."""

    resample_work: float  # local moves that cost as much as one resample
    owned: tuple[int, ...]  # how many units each part owns
    turns: tuple[tuple[int, ...], ...]  # of each layout, the parts that have a piece


@dataclass(frozen=True)
class Facts:
    """Sizes of the graph, and how it is divided."""

    num_nodes: int
    num_units: int
    directed: bool
    hops: int
    parts: int
    targets: dict[str, TargetFacts]

    def check(self, sampler: MHAug) -> None:
        """Refuse a sampler that the graph was not divided for."""
        checks.require(self.hops == sampler.hops, "hops", f"{self.hops}: the graph is divided for that", sampler.hops)
        for part, term in sampler.terms.items():
            rule = f"None: the graph is divided for {' and '.join(self.targets)} alone"
            checks.require(part in self.targets, part, rule, term)

    def to_json(self) -> str:
        """As text."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Facts":
        """What `to_json` wrote; else one of `ValueError`, `KeyError`, `TypeError`, `AttributeError`."""
        rows = json.loads(text)
        targets = {part: _target(**row) for part, row in rows.pop("targets").items()}
        facts = cls(**rows, targets=targets)
        for part, each in targets.items():
            if len(each.owned) != facts.parts:
                raise ValueError(f"{facts.parts} parts, and {part} owned by {len(each.owned)}")
        return facts


def _target(resample_work: float, owned: Sequence[int], turns: Sequence[Sequence[int]]) -> TargetFacts:
    return TargetFacts(float(resample_work), tuple(owned), tuple(map(tuple, turns)))
