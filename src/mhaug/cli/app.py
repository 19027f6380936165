"""The commands by name."""

from typing import Annotated

import typer

import mhaug
from mhaug.cli.datasets import datasets
from mhaug.cli.figure import figure
from mhaug.cli.list_settings import settings
from mhaug.cli.partition import partition
from mhaug.cli.predict import predict
from mhaug.cli.report import report
from mhaug.cli.sample import sample
from mhaug.cli.sweep import sweep
from mhaug.cli.table import table
from mhaug.cli.train import train
from mhaug.cli.tune import tune

app = typer.Typer(
    name="mhaug",
    help="Augmented graphs from an explicit distribution, by Metropolis-Hastings.",
    add_completion=False,
    rich_markup_mode="rich",
)


def _say_version(asked: bool) -> None:
    if asked:
        print(f"mhaug {mhaug.__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say which version this is.")
]


@app.callback()
def whole(*, version: Version = False) -> None:
    """Options of no command; what there is to do is done in their callbacks."""


app.command()(sample)
app.command()(train)
app.command()(predict)
app.command()(partition)
app.command()(sweep)
app.command()(tune)
app.command()(table)
app.command()(figure)
app.command()(report)
app.command()(datasets)
app.command()(settings)
