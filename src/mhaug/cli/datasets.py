"""`mhaug datasets`: what can be loaded by name, and whether it is here."""

from mhaug.cli.options import DataDir, Json, NoDevice, NoSeed, Output, Quiet


def datasets(
    *,
    seed: NoSeed = 0,
    data_dir: DataDir = None,
    device: NoDevice = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List the graphs that can be loaded by name.

    Example: mhaug datasets --data-dir ../shared/data
    """
    from mhaug.data.datasets import DATASETS, TOY_GRAPHS
    from mhaug.data.folders import cache_folder, data_folder

    output = Output(quiet, json)
    rows = []
    for name, row in DATASETS.items():
        folders = [folder / row.raw_folder for folder in (data_folder(data_dir), cache_folder())]
        here = not row.raw_files or any(all((f / raw).is_file() for raw in row.raw_files) for f in folders)
        counts = {"nodes": row.nodes, "edges": row.edges, "features": row.features, "classes": row.classes}
        rows.append({"name": name, **counts, "here": here, "description": row.description})
    output.show(lambda: _table(rows))
    output.show(lambda: f"toy graphs without labels, for `mhaug sample`: {', '.join(TOY_GRAPHS)}")
    output.result({"datasets": rows, "toy_graphs": list(TOY_GRAPHS)})


def _table(rows: list[dict[str, object]]) -> str:
    head = f"{'name':18}{'nodes':>8}{'edges':>9}{'features':>10}{'classes':>9}  {'here':5}description"
    lines = [
        f"{row['name']:18}{row['nodes']:8}{row['edges']:9}{row['features']:10}{row['classes']:9}  "
        f"{'yes' if row['here'] else 'no':5}{row['description']}"
        for row in rows
    ]
    return "\n".join([head, *lines])
