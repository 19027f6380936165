"""A folder with `edges.csv` and perhaps `nodes.csv` -> a PyG graph.

`edges.csv` has the columns source, target, and optionally weight; every other column is an edge attribute.
`nodes.csv` has the column id, and optionally label and split; every other column is a feature. Ids are any text.
Without `nodes.csv` the nodes are the ids in `edges.csv`, in the order in which they appear.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from mhaug.checks import RequestError, one_line
from mhaug.data.files.both_directions import Listed
from mhaug.data.files.tables import Row, build_graph

ENDS = ("source", "target")


def read_csv_folder(folder: Path) -> Listed:
    """The graph of a folder, its edges as listed."""
    if not (folder / "edges.csv").is_file():
        raise RequestError(f"the folder {folder} must contain edges.csv, or graph.npz with x.npy; got neither")
    edges = _read_rows(folder / "edges.csv", ENDS)
    if (folder / "nodes.csv").is_file():
        nodes = _read_rows(folder / "nodes.csv", ("id",))
    else:
        ids = dict.fromkeys(row.text(end) for row in edges for end in ENDS)
        nodes = [Row({"id": name}, "edges.csv") for name in ids]
    numbers = _number_nodes(nodes)
    node_columns = [_without(row, ("id",)) for row in nodes]
    edge_columns = [_without(row, ENDS) for row in edges]
    graph = build_graph(list(numbers), node_columns, _ends(edges, numbers), edge_columns)
    return Listed(graph, one_way=True)


def _read_rows(path: Path, required: Sequence[str]) -> list[Row]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = [name.strip() for name in next(reader, [])]
            lines = [(reader.line_num, cells) for cells in reader if cells]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RequestError(f"{path} must be a CSV file in UTF-8; got {one_line(error)}") from None
    missing = [name for name in required if name not in header]
    if missing or len(set(header)) < len(header):
        rule = f"have the columns {', '.join(required)}, and no name twice"
        raise RequestError(f"{path}, line 1: the header must {rule}; got {','.join(header)!r}")
    return [_row(header, cells, f"{path}, line {line}") for line, cells in lines]


def _row(header: list[str], cells: list[str], place: str) -> Row:
    if len(cells) != len(header):
        raise RequestError(f"{place}: must have {len(header)} cells like the header; got {len(cells)}")
    return Row(dict(zip(header, cells, strict=True)), place)


def _number_nodes(nodes: Sequence[Row]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for row in nodes:
        name = row.text("id")
        if name in numbers:
            raise RequestError(f"{row.place}: each id must be given once; got {name!r} again")
        numbers[name] = len(numbers)
    return numbers


def _ends(edges: Sequence[Row], numbers: dict[str, int]) -> Tensor:
    for row in edges:
        for end in ENDS:
            if row.text(end) not in numbers:
                raise RequestError(f"{row.place}: {end} must be an id of nodes.csv; got {row.text(end)!r}")
    pairs = [[numbers[row.text(end)] for row in edges] for end in ENDS]
    return torch.tensor(pairs, dtype=torch.long)


def _without(row: Row, columns: Sequence[str]) -> Row:
    return Row({name: value for name, value in row.values.items() if name not in columns}, row.place)
