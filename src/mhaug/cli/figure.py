"""`mhaug figure`: a figure of the paper or one beyond it, as an image with its numbers beside it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mhaug.checks import RequestError, called
from mhaug.cli.options import DataDir, Device, Json, Output, Quiet, Seed, checked_device

Name = Annotated[
    str,
    typer.Argument(
        help="ego-change, ego-graph, count-term, grid (or figure-2 to figure-5); mixing, delivered.",
        show_default=False,
    ),
]
Out = Annotated[Path | None, typer.Option(help="The image: .png, .svg or .pdf; default NAME.png. Numbers: .json.")]
Dataset = Annotated[str | None, typer.Option(help="Another graph than Cora: ego-graph, mixing, delivered.")]
Node = Annotated[int | None, typer.Option(help="The node in the middle: ego-graph; chosen by a rule if not given.")]


def figure(
    name: Name,
    *,
    out: Out = None,
    dataset: Dataset = None,
    node: Node = None,
    seed: Seed = 0,
    data_dir: DataDir = None,
    device: Device = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Make one figure: the image, and its numbers as JSON beside it.

    Example: mhaug figure grid --out figures/grid.png --seed 0
    """
    from mhaug.experiments.figures import canvas, catalogue
    from mhaug.experiments.figures.request import Request

    output = Output(quiet, json)
    with called(name="figure"):
        name = catalogue.known_name(name)
    # before any long work
    path = canvas.check_path(out or Path(f"{name}.png"), "out")
    options = _chosen(name, catalogue.FIGURES[name].takes, dataset=dataset, node=node)
    checked_device(device)
    request = Request(seed=seed, data_dir=data_dir, device=device, progress=output.progress, **options)
    record = catalogue.measure(name, request)
    numbers = catalogue.write(record, path)
    output.show(lambda: "\n".join([record["title"], *map(_line, record["claims"])]))
    output.show(lambda: f"picture: {path}\nnumbers: {numbers}")
    output.result({"figure": name, "seed": seed, "out": path, "numbers": numbers, "claims": record["claims"]})


def _chosen(name: str, takes: tuple[str, ...], **options: Any) -> dict[str, Any]:
    """The options that were given; one that the figure would not heed is refused."""
    given = {option: value for option, value in options.items() if value is not None}
    for option, value in given.items():
        if option not in takes:
            raise RequestError(f"'{option}' must be left out for the figure {name}, which has its own; got {value!r}")
    return given


def _line(claim: dict[str, Any]) -> str:
    bound = f"at least {claim['at_least']:.3g}" if "at_least" in claim else f"at most {claim['at_most']:.3g}"
    return f"{'holds' if claim['holds'] else 'FAILS':7}{claim['claim']}: {claim['value']:.4g} ({bound})"
