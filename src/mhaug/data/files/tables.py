"""Rows of nodes and rows of edges -> a PyG graph. What the CSV and the GraphML reader share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from mhaug.checks import RequestError
from mhaug.data.labels import number_labels

if TYPE_CHECKING:
    from torch_geometric.data import Data

SPLIT_WORDS = {"train": "train", "val": "val", "validation": "val", "test": "test", "": None}


@dataclass(frozen=True)
class Row:
    """One node or one edge as its file has it; `place` is where, in words, for error messages."""

    values: Mapping[str, object]
    place: str

    def number(self, column: str) -> float:
        """A cell as a number."""
        value = self.values.get(column, "")
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            raise RequestError(f"{self.place}: column '{column}' must be a number; got {value!r}") from None

    def text(self, column: str) -> str:
        """A cell as text without blanks around it; empty where there is none."""
        return str(self.values.get(column, "")).strip()


def columns_of(rows: Iterable[Row]) -> list[str]:
    """All column names in the order in which they first appear."""
    return list(dict.fromkeys(name for row in rows for name in row.values))


def build_graph(node_ids: Sequence[str], nodes: Sequence[Row], ends: Tensor, edges: Sequence[Row]) -> Data:
    """A graph from its rows.

    Of the nodes, `label` and `split` become `y` and the masks, every other column a feature (one constant feature if
    there is none). Of the edges, `weight` becomes `edge_weight`, every other column an edge attribute.
    """
    from torch_geometric.data import Data

    features = [name for name in columns_of(nodes) if name not in ("label", "split")]
    graph = Data(edge_index=ends, x=numbers(nodes, features) if features else torch.ones(len(node_ids), 1))
    graph.node_ids = list(node_ids)
    if "label" in columns_of(nodes):
        graph.y, names = number_labels([row.text("label") for row in nodes])
        if names is not None:
            graph.class_names = names
    if "split" in columns_of(nodes):
        for part, mask in split_masks(nodes).items():
            graph[f"{part}_mask"] = mask
    attributes = [name for name in columns_of(edges) if name != "weight"]
    if "weight" in columns_of(edges):
        graph.edge_weight = numbers(edges, ["weight"]).squeeze(1)
    if attributes:
        graph.edge_attr = numbers(edges, attributes)
    return graph


def numbers(rows: Sequence[Row], columns: Sequence[str]) -> Tensor:
    """The named columns as floats [rows, columns]."""
    cells = [[row.number(column) for column in columns] for row in rows]
    return torch.tensor(cells, dtype=torch.float32).view(len(rows), len(columns))


def split_masks(rows: Sequence[Row]) -> dict[str, Tensor]:
    """The masks that the words of the `split` column stand for."""
    parts = []
    for row in rows:
        word = row.text("split").lower()
        if word not in SPLIT_WORDS:
            rule = "train, val, validation, test or empty"
            raise RequestError(f"{row.place}: column 'split' must be {rule}; got {word!r}")
        parts.append(SPLIT_WORDS[word])
    return {name: torch.tensor([part == name for part in parts]) for name in ("train", "val", "test")}
