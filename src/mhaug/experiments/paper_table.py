"""The paper's Table 1 in our names: `paper_table.csv`, and how to look a number up."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class CellKey(NamedTuple):
    """A place in the table."""

    backbone: str
    method: str
    dataset: str


@dataclass(frozen=True)
class PaperNumber:
    """Percent. Without a mean, `note` says why the paper gives none."""

    mean: float | None
    std: float | None
    copied: bool  # by the paper, from the paper of the method itself
    note: str

    def __str__(self) -> str:
        return self.note if self.mean is None else f"{self.mean:.2f} ± {self.std:.2f}{'†' if self.copied else ''}"


@cache
def paper_table() -> dict[CellKey, PaperNumber]:
    """Every cell that the paper prints, with a number or without."""
    text = files("mhaug.experiments").joinpath("paper_table.csv").read_text(encoding="utf-8")
    return {
        CellKey(row["backbone"], row["method"], row["dataset"]): PaperNumber(
            mean=float(row["mean"]) if row["mean"] else None,
            std=float(row["std"]) if row["std"] else None,
            copied=row["copied"] == "yes",
            note=row["note"],
        )
        for row in csv.DictReader(text.splitlines())
    }
