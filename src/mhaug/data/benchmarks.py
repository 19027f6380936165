"""The benchmark graphs, read from their raw files by PyG's own readers.

PyG's dataset classes would write beside the raw files and print; the readers that they call do neither. Reading
takes well under a second, as long as a processed copy would take (CS: a second and a half, for half a gigabyte of
features), so no such copy is kept.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING

from mhaug.data.download import download, missing_files
from mhaug.data.fingerprints import check_file
from mhaug.data.folders import cache_folder, data_folder

if TYPE_CHECKING:
    from torch_geometric.data import Data

PLANETOID_PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")


@dataclass(frozen=True)
class Benchmark:
    """Where a benchmark's raw files are: in `folder`/raw, named as PyG's dataset class `family` names them."""

    folder: str
    family: str
    files: tuple[str, ...]


def _planetoid(folder: str) -> Benchmark:
    return Benchmark(folder, "Planetoid", tuple(f"ind.{folder.lower()}.{part}" for part in PLANETOID_PARTS))


BENCHMARKS = {
    "cora": _planetoid("Cora"),
    "citeseer": _planetoid("CiteSeer"),
    "pubmed": _planetoid("PubMed"),
    "computers": Benchmark("Computers", "Amazon", ("amazon_electronics_computers.npz",)),
    "photo": Benchmark("Photo", "Amazon", ("amazon_electronics_photo.npz",)),
    "cs": Benchmark("CS", "Coauthor", ("ms_academic_cs.npz",)),
    "physics": Benchmark("Physics", "Coauthor", ("ms_academic_phy.npz",)),
}


def load_benchmark(name: str, root: str | Path | None = None) -> Data:
    """The graph with features whose rows sum to 1 (rows of zeros stay), its labels, and its masks if published."""
    benchmark = BENCHMARKS[name]
    folder = _raw_folder(name, root)
    for file in benchmark.files:
        check_file(folder / file, file)
    return _read(benchmark, folder)


def _raw_folder(name: str, root: str | Path | None) -> Path:
    """The folder that holds the raw files; downloads go to the cache folder, never into a folder that was given."""
    benchmark = BENCHMARKS[name]
    wanted, fallback = (base / benchmark.folder / "raw" for base in (data_folder(root), cache_folder()))
    for folder in (wanted, fallback):
        if all((folder / file).is_file() for file in benchmark.files):
            return folder
    missing = [file for file in benchmark.files if not (wanted / file).is_file()]
    try:
        download(_address(benchmark), benchmark.files, fallback)
    except (OSError, HTTPException) as error:
        raise missing_files(name, missing, wanted, error) from None
    return fallback


def _address(benchmark: Benchmark) -> str:
    from torch_geometric import datasets

    return str(getattr(datasets, benchmark.family).url)


def _read(benchmark: Benchmark, folder: Path) -> Data:
    from torch_geometric.io import read_npz, read_planetoid_data

    with warnings.catch_warnings():
        # old pickles name modules that scipy has renamed
        warnings.simplefilter("ignore")
        if benchmark.family == "Planetoid":
            graph = read_planetoid_data(str(folder), benchmark.folder)
        else:
            graph = read_npz(str(folder / benchmark.files[0]))
    sums = graph.x.sum(dim=1, keepdim=True)
    graph.x = graph.x / sums.where(sums > 0, 1.0)
    return graph
