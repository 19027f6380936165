"""Name or path -> graph or task: the table of known datasets, and the two functions that people call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from mhaug.checks import RequestError, guess, require
from mhaug.data import toy_graphs
from mhaug.data.benchmarks import BENCHMARKS, load_benchmark
from mhaug.data.digits import digits_graph
from mhaug.data.files import read_graph
from mhaug.data.splits import Split, per_class_split, public_split
from mhaug.data.task import NodeTask

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True)
class Dataset:
    """One row of the table. `edges` counts undirected edges, each once.

    `public_draw` is how many training and validation nodes a class the public split draws; None: the masks are
    published. `raw_files` are looked for in the folder `raw_folder` of the data folder.
    """

    load: Callable[[str | Path | None], Data]
    description: str
    nodes: int
    edges: int
    features: int
    classes: int
    public_draw: tuple[int, int] | None = (20, 30)
    raw_folder: str = ""
    raw_files: tuple[str, ...] = ()


def _benchmark(
    name: str, description: str, counts: tuple[int, int, int, int], public_draw: tuple[int, int] | None = (20, 30)
) -> Dataset:
    source = BENCHMARKS[name]
    load = partial(load_benchmark, name)
    return Dataset(load, description, *counts, public_draw, f"{source.folder}/raw", source.files)


DATASETS: dict[str, Dataset] = {
    "digits": Dataset(
        lambda root: digits_graph(),
        "scikit-learn's handwritten digits, joined to the 5 most similar by cosine; built in",
        *(1797, 6404, 64, 10),
        public_draw=(5, 30),
    ),
    "cora": _benchmark("cora", "citations, papers on machine learning", (2708, 5278, 1433, 7), None),
    "citeseer": _benchmark("citeseer", "citations, computer science", (3327, 4552, 3703, 6), None),
    "pubmed": _benchmark("pubmed", "citations, papers on diabetes", (19717, 44324, 500, 3), None),
    "computers": _benchmark("computers", "Amazon computers bought together", (13752, 245861, 767, 10)),
    "photo": _benchmark("photo", "Amazon photo goods bought together", (7650, 119081, 745, 8)),
    "cs": _benchmark("cs", "co-authors, computer science", (18333, 81894, 6805, 15)),
    "physics": _benchmark("physics", "co-authors, physics", (34493, 247962, 8415, 5)),
    "planted-partition": Dataset(
        lambda root: toy_graphs.planted_partition(),
        "toy: three hidden groups of 100 nodes",
        *(300, 868, 16, 3),
    ),
}

# structure only: no labels
TOY_GRAPHS: dict[str, Callable[[], Data]] = {
    "path": lambda: toy_graphs.path_graph(10),
    "grid": lambda: toy_graphs.grid_graph(10, 10),
    "complete": lambda: toy_graphs.complete_graph(10),
    "star": lambda: toy_graphs.star_graph(10),
}


def load_graph(name_or_path: str | Path, root: str | Path | None = None, *, directed: bool | None = None) -> Data:
    """The graph of a known name (in any case), or of the user's own file or folder (see `read_graph`).

    Raw benchmark files are looked for in `root`, else in the folder that `MHAUG_DATA` names, and then in the cache
    folder, into which they are fetched where missing. `directed` is for files only.
    """
    name = str(name_or_path).lower()
    if name in DATASETS:
        return DATASETS[name].load(root)
    if name in TOY_GRAPHS:
        return TOY_GRAPHS[name]()
    check_name(name_or_path)
    return read_graph(name_or_path, directed=directed)


def check_name(name_or_path: str | Path) -> None:
    """A known name or a path that is there; asked before any long work."""
    names = [*DATASETS, *TOY_GRAPHS]
    rule = f"one of {', '.join(names)}, or the path of an existing graph file or folder"
    if not isinstance(name_or_path, str | Path):
        hint = "a Data goes to fit, or NodeTask.from_data, as it is"
        raise RequestError(f"'dataset' must be {rule} ({hint}); got {type(name_or_path).__name__}")
    if not (is_built_in(name_or_path) or Path(name_or_path).expanduser().exists()):
        name = str(name_or_path)
        raise RequestError(f"'dataset' must be {rule}; got {name!r}{guess(name, names)}")


def is_built_in(name_or_path: str | Path) -> bool:
    """Whether it is a known name, in any case, and not a path."""
    return str(name_or_path).lower() in {**DATASETS, **TOY_GRAPHS}


def load_dataset(
    name: str | Path,
    root: str | Path | None = None,
    split: str | Split = "public",
    seed: int = 0,
    *,
    directed: bool | None = None,
) -> NodeTask:
    """The node classification task of a known name, or of the user's own file or folder (see `load_graph`).

    `split="public"` is the usual protocol of the graph: the published masks (cora, citeseer, pubmed); 20 training
    and 30 validation nodes a class, drawn with `seed` (computers, photo, cs, physics, planted-partition); 5 and 30
    a class (digits: few labels are the point); for a user's own file, the masks in the file. `split="random"` draws
    20 and 30 a class from any graph. In every draw the rest is for testing. A `Split` is taken as it is.
    """
    if not isinstance(split, Split):
        require(split in ("public", "random"), "split", "'public', 'random' or a Split", split)
    return task_of(load_graph(name, root, directed=directed), name, split, seed)


def task_of(graph: Data, name: str | Path, split: str | Split, seed: int) -> NodeTask:
    """The task of a graph that is loaded already, as `load_dataset` would make it."""
    if graph.y is None:
        raise RequestError(f"dataset must have labels to make a task (load_graph needs none); got {str(name)!r}")
    known = DATASETS.get(str(name).lower())
    title = str(name).lower() if known else Path(name).stem
    if split == "public":
        split = _public(graph, known, seed)
    return NodeTask.from_data(graph, split=split, seed=seed, name=title)


def _public(graph: Data, known: Dataset | None, seed: int) -> Split:
    if known is None or known.public_draw is None:
        return public_split(graph)
    train, validation = known.public_draw
    return per_class_split(graph.y, train=train, validation=validation, seed=seed)
