"""`mhaug partition`: divide a graph once, on disk, for chains in parts."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from mhaug.cli.options import DataDir, Graph, Json, NoDevice, NoSeed, Output, Quiet, writable_folder

Targets = Annotated[str, typer.Option(help="What the chains drop: edges, nodes, or edges,nodes.")]
Out = Annotated[Path, typer.Option(help="A new folder for the pieces.")]


def partition(
    *,
    dataset: Graph = "digits",
    parts: Annotated[int, typer.Option(help="Parts; at most one rank a part has work to do.")] = 2,
    hops: Annotated[int, typer.Option(help="k: size of an ego-graph. Chains must have the same.")] = 2,
    targets: Targets = "edges,nodes",
    out: Out,
    data_dir: DataDir = None,
    seed: NoSeed = 0,
    device: NoDevice = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Divide a graph for chains in parts, so that a rank opens its own pieces and never sees the graph.

    Example: mhaug partition --graph my_folder --parts 8 --hops 2 --out divided

    Then, in Python, on all ranks: partitioned_chain(MHAug(...), "divided", world=world)
    """
    from mhaug.data.datasets import load_graph
    from mhaug.distributed.partitioned import divide, place_for

    output = Output(quiet, json)
    names = [name.strip() for name in targets.split(",")]
    # made beside its place: that is where it must be possible to write
    writable_folder(place_for(out, parts=parts, hops=hops, targets=names).parent, "out")
    graph = load_graph(dataset, data_dir)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default", RuntimeWarning)
        folder = divide(graph, out, parts=parts, hops=hops, targets=names)
    # without the file and the line that they come from, and each once
    for line in dict.fromkeys(str(each.message) for each in said):
        output.note(line)
    facts, files = folder.facts, [path.stat().st_size for path in out.iterdir()]
    record = {"dataset": dataset, "nodes": facts.num_nodes, "edges": facts.num_units, "parts": parts, "hops": hops}
    output.show(lambda: f"{dataset}: {facts.num_nodes} nodes and {facts.num_units} edges in {parts} parts")
    output.show(lambda: f"{len(files)} files, {sum(files) / 2**20:.1f} MiB: {out}")
    output.result({**record, "targets": list(facts.targets), "bytes": sum(files), "out": out})
