"""What a figure is asked, and the shape of its answer.

A figure is two functions: `measure(request)` gives a record of plain JSON, `draw(record)` makes the picture from that
record and nothing else. So every picture can be drawn again from its numbers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mhaug.counted import counted

T = TypeVar("T")
Record = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """Seed, place and data of a figure. `dataset` and `node` are for the figures that say they take them."""

    seed: int = 0
    dataset: str = "cora"
    node: int | None = None  # the figure's own choice
    data_dir: Path | None = None
    device: str = "cpu"
    progress: bool = False

    def graph(self) -> Any:
        """The graph of `dataset`, where chains are to run."""
        from mhaug.data.datasets import load_graph

        return load_graph(self.dataset, self.data_dir).to(self.device)

    def counted(self, work: Sequence[T], words: str) -> Iterable[T]:
        """The same items, with their progress on standard error."""
        return counted(work, len(work), words, shown=self.progress)


def at_least(claim: str, value: float, bound: float) -> Record:
    """A claim that holds where the value is no smaller than the bound."""
    return {"claim": claim, "value": float(value), "at_least": bound, "holds": bool(value >= bound)}


def at_most(claim: str, value: float, bound: float) -> Record:
    """A claim that holds where the value is no larger than the bound."""
    return {"claim": claim, "value": float(value), "at_most": bound, "holds": bool(value <= bound)}
