"""`mhaug table`: Table 1 from records, beside the paper's numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mhaug.cli.options import Json, NoDataDir, NoDevice, NoSeed, Output, Quiet

if TYPE_CHECKING:
    from mhaug.experiments.table import Cell, Table

Store = Annotated[
    list[Path] | None,
    typer.Option(
        "--store",
        "--records",
        help="A run store, a .jsonl file of records, or a folder of them; results/table1 if not given. "
        "May be repeated.",
    ),
]
USUAL_STORE = Path("results/table1")
Out = Annotated[Path | None, typer.Option(help="Folder for table.md, table_short.md, .csv, .tex, .html.")]
Whole = Annotated[bool, typer.Option("--all", help="Also the cells of the paper that nothing was run for.")]


def table(
    *,
    store: Store = None,
    out: Out = None,
    whole: Whole = False,
    seed: NoSeed = 0,
    data_dir: NoDataDir = None,
    device: NoDevice = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Mean and standard deviation over seeds, the paper's number and the difference, cell by cell.

    Example: mhaug table --store runs.sqlite --out results/table1
    """
    from mhaug.experiments.store import read_records
    from mhaug.experiments.table import table_of
    from mhaug.experiments.table_files import write_files
    from mhaug.experiments.table_formats import rows
    from mhaug.experiments.table_words import notes

    output = Output(quiet, json)
    records = [record for path in store or [USUAL_STORE] for record in read_records(path, curves=False)]
    found = table_of(records, whole=whole)
    # before anything is printed: a reader like `head` may close the pipe
    files = [] if out is None else write_files(found, out)
    output.show(lambda: _screen(found))
    if files:
        output.show(lambda: f"written: {', '.join(map(str, files))}")
    names = ("competes", "best", "rival", "shared", "p_value")
    extra = [{**{name: getattr(cell, name) for name in names}, "seeds": list(cell.tests)} for cell in found.cells]
    cells = [{**row, **more} for row, more in zip(rows(found), extra, strict=True)]
    output.result({"cells": cells, "notes": notes(found), "files": files})


def _screen(found: "Table") -> str:
    """For a terminal: as many columns side by side as fit; all five in 80 characters."""
    from rich.console import Console
    from rich.table import Table as Grid

    from mhaug.experiments.table_words import notes

    console = Console(highlight=False)
    gap = 2 if console.width >= 90 else 1
    room = max(1, (console.width - 13) // (12 + gap))
    with console.capture() as capture:
        for backbone in found.backbones:
            block, datasets = found.block(backbone), found.datasets
            for start in range(0, len(datasets), room):
                shown = datasets[start : start + room]
                grid = Grid("method", *shown, title=backbone, title_justify="left", title_style="bold", box=None)
                grid.pad_edge, grid.padding = False, (0, gap, 0, 0)
                for method, row in block.items():
                    grid.add_row(method, *(_lines(row.get(dataset)) for dataset in shown))
                console.print(grid)
                console.print()
        for note in notes(found, difference=_BELOW, best="▸"):
            console.print(note, style="dim")
    return capture.get().rstrip("\n")


_BELOW = "Below it: the paper's, and ours less that; then the number of runs and p."


def _lines(cell: "Cell | None") -> str:
    from mhaug.experiments import table_words as words

    if cell is None:
        return words.NOTHING
    ours = words.accuracy(cell).replace(" ", "") + ("*" if cell.clearly_best else "")
    small = [words.short_paper(cell).replace("(", "").replace(")", "")]
    if cell.runs:
        small.append(words.short_evidence(cell).replace("n ", "n").replace(", p ", " p"))
    return "\n".join([f"[bold]▸{ours}[/bold]" if cell.best else ours, *(f"[dim]{line}[/dim]" for line in small)])
