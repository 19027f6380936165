"""`mhaug settings`: what `--set` takes."""

from typing import Annotated, Any

import typer

from mhaug.cli.options import Json, NoDataDir, NoDevice, NoSeed, Output, Quiet

Method = Annotated[str, typer.Option(help="A row of Table 1: mh-aug, vanilla, ...")]
Backbone = Annotated[str, typer.Option(help="gcn, sage or gat.")]
Dataset = Annotated[str, typer.Option(help="Whose presets to show; without it those of any graph.")]


def settings(
    *,
    method: Method = "mh-aug",
    backbone: Backbone = "gcn",
    dataset: Dataset = "",
    seed: NoSeed = 0,
    data_dir: NoDataDir = None,
    device: NoDevice = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List the hyper-parameters of a method and a network: their values, and what `mhaug tune` chooses from.

    Example: mhaug settings --method mh-aug --backbone gcn --dataset cora
    """
    from mhaug.data.datasets import check_name
    from mhaug.experiments.search_space import search_space
    from mhaug.methods.presets import preset_settings
    from mhaug.training.plan import every_setting

    output = Output(quiet, json)
    if dataset:
        check_name(dataset)  # a misspelt one would show the presets of no graph
    defaults = every_setting(backbone, method, {})
    presets, space = preset_settings(dataset, backbone, method), search_space(backbone, method)
    rows = [
        {"name": name, "value": presets.get(name, default), "preset": name in presets, "searched": space.get(name)}
        for name, default in sorted(defaults.items())
    ]
    output.show(lambda: _table(rows))
    output.show(lambda: "* a preset, else the default; for the symbols of the paper see docs/paper_map.md")
    output.result({"method": method, "backbone": backbone, "dataset": dataset, "settings": rows})


def _table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'--set':24}{'value':>12}   mhaug tune chooses from"]
    for row in rows:
        star = "*" if row["preset"] else " "
        lines.append(f"{row['name']:24}{row['value']!s:>12} {star} {_range(row['searched'])}".rstrip())
    return "\n".join(lines)


def _range(choice: Any) -> str:
    """A list of values, or two ends."""
    if choice is None:
        return ""
    if isinstance(choice, list):
        return ", ".join(str(value) for value in choice)
    return f"{choice['low']:g} to {choice['high']:g}{' (log scale)' if choice.get('log') else ''}"
