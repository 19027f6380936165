"""`mhaug predict`: classes and probabilities of every node, as CSV."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from mhaug.checks import RequestError
from mhaug.cli.options import DataDir, Device, Json, Output, Quiet, Seed, checked_device, existing_graph

Model = Annotated[Path, typer.Option(help="A folder that `mhaug train --out` or NodeClassifier.save wrote.")]
Dataset = Annotated[
    str | None,
    typer.Option(
        "--dataset",
        "--graph",
        help="The graph to predict on; default: the one trained on.",
        callback=existing_graph,
    ),
]


def predict(
    *,
    model: Model,
    dataset: Dataset = None,
    out: Annotated[Path, typer.Option(help="The CSV file to write.")] = Path("predictions.csv"),
    seed: Seed = 0,
    data_dir: DataDir = None,
    device: Device = "cpu",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write the label and the probabilities of each node to a CSV file.

    Example: mhaug predict --model runs/cora/seed-0 --dataset cora --out predictions.csv
    """
    from mhaug.data.datasets import load_graph
    from mhaug.estimator import NodeClassifier
    from mhaug.experiments.run import folder_of_run, trained_on

    output = Output(quiet, json)
    checked_device(device)
    folder = folder_of_run(model)
    name = dataset or trained_on(folder)
    if name is None:
        raise RequestError("dataset must be given: the model's folder does not say which graph it was trained on")
    clf = NodeClassifier.load(folder, device=device)
    graph = load_graph(name, data_dir)
    probabilities = clf.predict_proba(graph)
    labels = probabilities.argmax(1).tolist()
    names = clf.class_names_ or [str(number) for number in range(probabilities.shape[1])]
    nodes = getattr(graph, "node_ids", None) or list(range(len(labels)))
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["node", "label", *(f"p_{name}" for name in names)])
        for node, label, row in zip(nodes, labels, probabilities.tolist(), strict=True):
            writer.writerow([node, names[label], *(f"{p:.6g}" for p in row)])
    output.show(lambda: f"{len(labels)} nodes: {out}")
    output.result({"nodes": len(labels), "out": out, "dataset": name, "classes": names})
