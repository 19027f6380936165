"""`mhaug report`: everything that a run store knows, on one page."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mhaug.checks import require
from mhaug.cli.options import Json, NoDataDir, NoDevice, NoSeed, Output, Quiet
from mhaug.cli.table import USUAL_STORE, Store

Out = Annotated[Path, typer.Option(help="The page to write.")]
Figures = Annotated[Path | None, typer.Option(help="Folder of images to show; none are if not given.")]


def report(
    *,
    store: Store = None,
    out: Out = Path("report.html"),
    figures: Figures = None,
    seed: NoSeed = 0,
    data_dir: NoDataDir = None,
    device: NoDevice = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make one HTML page that needs nothing else: table, figures, curves, chains, failures, commands, versions.

    Example: mhaug report --store runs.sqlite --figures results/figures --out report.html
    """
    from mhaug.experiments.report.build import build_report
    from mhaug.experiments.report.material import read_material

    output = Output(quiet, json)
    require(out.suffix in (".html", ".htm"), "out", "a file name that ends in .html", str(out))
    material = read_material(store or [USUAL_STORE], figures)
    with _bar(shown=output.progress) as progress:
        text = build_report(material, progress=progress)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")
    counts = {"runs": len(material.records), "failed": len(material.failures), "figures": len(material.pictures)}
    words = ", ".join(f"{count} {name}" for name, count in counts.items())
    output.show(lambda: f"{words}; {len(text) / 1e6:.1f} MB: {out}")
    output.result({**counts, "bytes": len(text.encode()), "out": out})


@contextmanager
def _bar(*, shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on standard error, where there is someone to see it."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not (shown and console.is_terminal):
        yield None
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("drawing", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
