"""Table 1 from records: our mean over seeds beside the paper's number, cell by cell."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

from mhaug.backbones.catalogue import BACKBONES
from mhaug.checks import RequestError
from mhaug.experiments.chosen_settings import Choice, choose
from mhaug.experiments.paper_table import CellKey, PaperNumber, paper_table
from mhaug.experiments.record import RunRecord
from mhaug.experiments.significance import LEVEL, paired_p_value

# the order of rows and columns; what is not here comes after, by name
METHODS = (
    "vanilla", "drop-edge", "drop-node", "ada-edge", "mh-aug-no-reg", "gaug-m", "gaug-o", "ssl", "bvat", "uda",
    "graph-mix", "grand", "fixed-rates", "mh-aug",
)  # fmt: skip
DATASETS = ("cora", "citeseer", "computers", "photo", "cs")
PROTOCOL = "public"  # the split that the paper's numbers are for


@dataclass(frozen=True)
class Cell:
    """One method on one graph. Accuracies are in percent, on the test nodes at the first best validation accuracy."""

    key: CellKey
    choice: Choice
    paper: PaperNumber | None
    competes: bool = True  # with as many seeds as any of its column: a mean over fewer may be the luck of easy ones
    best: bool = False
    rival: str | None = None  # the best other method of the column that competes
    shared: int = 0  # seeds that both have
    p_value: float | None = None  # of the difference to the rival; None with fewer than two shared seeds

    @property
    def tests(self) -> dict[int, float]:
        """Seed -> accuracy."""
        return {record.spec.seed: 100 * record.test_accuracy for record in self.choice.records}

    @property
    def runs(self) -> int:
        """Seeds behind the cell."""
        return len(self.choice.records)

    @property
    def mean(self) -> float | None:
        """Over seeds; None where nothing was run."""
        return fmean(self.tests.values()) if self.runs else None

    @property
    def std(self) -> float | None:
        """Of a sample (divided by n - 1); None of a single run."""
        return stdev(self.tests.values()) if self.runs > 1 else None

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        theirs = None if self.paper is None else self.paper.mean
        return None if self.mean is None or theirs is None else self.mean - theirs

    @property
    def clearly_best(self) -> bool:
        """Best, and the runner-up is not as good by chance."""
        return self.best and self.p_value is not None and self.p_value < LEVEL


@dataclass(frozen=True)
class Table:
    """Cells in reading order: backbone by backbone, method by method."""

    cells: tuple[Cell, ...]
    left_out: int  # records of another split, or without test nodes

    @property
    def backbones(self) -> list[str]:
        """The blocks."""
        return list(dict.fromkeys(cell.key.backbone for cell in self.cells))

    @property
    def datasets(self) -> list[str]:
        """The columns: those of the paper first."""
        return _ordered({cell.key.dataset for cell in self.cells}, DATASETS)

    def block(self, backbone: str) -> dict[str, dict[str, Cell]]:
        """Method -> dataset -> cell."""
        rows: dict[str, dict[str, Cell]] = {}
        for cell in self.cells:
            if cell.key.backbone == backbone:
                rows.setdefault(cell.key.method, {})[cell.key.dataset] = cell
        return rows


def table_of(records: Sequence[RunRecord], *, whole: bool = False) -> Table:
    """The table of these records. `whole` adds the cells of the paper that nothing was run for."""
    kept = [r for r in records if r.spec.split == PROTOCOL and not math.isnan(r.test_accuracy)]
    groups: dict[CellKey, list[RunRecord]] = {}
    for record in kept:
        spec = record.spec
        groups.setdefault(CellKey(spec.backbone, spec.method, spec.dataset), []).append(record)
    paper = paper_table()
    keys = {*groups, *paper} if whole else {*groups}
    if not keys:
        raise RequestError(f"records must hold finished runs on the '{PROTOCOL}' split; got {len(records)} records")
    nothing = Choice((), 0, 0)
    cells = {
        key: Cell(key, choose(groups[key]) if key in groups else nothing, paper.get(key)) for key in _sorted(keys)
    }
    return Table(tuple(_compared(cell, cells.values()) for cell in cells.values()), len(records) - len(kept))


def _compared(cell: Cell, cells: Iterable[Cell]) -> Cell:
    """The cell beside the best other one of its column that has as many seeds as any."""
    backbone, method, dataset = cell.key
    column = [c for c in cells if (c.key.backbone, c.key.dataset) == (backbone, dataset) and c.runs]
    most = max((each.runs for each in column), default=0)
    others = [each for each in column if each.runs == most and each.key.method != method]
    rival = max(others, key=lambda other: other.mean or 0.0, default=None)
    cell = replace(cell, competes=cell.runs in (0, most))
    if rival is None or cell.mean is None or rival.mean is None:
        return cell
    best = cell.competes and cell.mean > rival.mean - 1e-9
    shared, p_value = len(cell.tests.keys() & rival.tests.keys()), paired_p_value(cell.tests, rival.tests)
    return replace(cell, best=best, rival=rival.key.method, shared=shared, p_value=p_value)


def _sorted(keys: Iterable[CellKey]) -> list[CellKey]:
    keys = list(keys)
    backbones = _ordered({key.backbone for key in keys}, BACKBONES)
    methods = _ordered({key.method for key in keys}, METHODS)
    datasets = _ordered({key.dataset for key in keys}, DATASETS)
    return sorted(
        keys, key=lambda k: (backbones.index(k.backbone), methods.index(k.method), datasets.index(k.dataset))
    )


def _ordered(names: set[str], order: Iterable[str]) -> list[str]:
    """The known names in their order, then the others by name."""
    known = [name for name in order if name in names]
    return known + sorted(names - set(known))
