"""ENGINES: the table, and the one way to build one by name."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mhaug import checks
from mhaug.data.folders import data_folder
from mhaug.experiments.engines.engine import Engine, Work
from mhaug.experiments.engines.in_process import InProcess
from mhaug.experiments.engines.processes import Processes
from mhaug.experiments.engines.ray_cluster import RayCluster
from mhaug.experiments.engines.slurm import Slurm

ENGINES: dict[str, Callable[..., Engine]] = {
    "batch": InProcess,
    "process": Processes,
    "ray": RayCluster,
    "slurm": Slurm,
}


# what each heeds beside the data folder and the device
OPTIONS: dict[str, tuple[str, ...]] = {
    "batch": ("threads",),
    "process": ("workers", "threads"),
    "ray": ("threads", "address"),
    "slurm": ("threads", "slurm"),
}


def build_engine(
    name: str,
    *,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    workers: int | None = None,
    threads: int | None = None,
    address: str | None = None,
    slurm: Mapping[str, Any] | None = None,
) -> Engine:
    """An engine of the table. An option that it would not heed is refused; None: what is usual."""
    checks.one_of(name, "engine", ENGINES)
    given = {"workers": workers, "threads": threads, "address": address, "slurm": slurm or None}
    for option, value in given.items():
        heeded = value is None or option in OPTIONS[name]
        checks.require(heeded, option, f"left out with the engine '{name}'", value)
    for option, count in (("workers", workers), ("threads", threads)):
        checks.whole_number(1 if count is None else count, option, 1)
    with checks.called(root="data_dir"):
        folder = None if data_dir is None else str(data_folder(data_dir).resolve())
    if name == "batch":
        return InProcess(folder, device, threads=threads)
    work, cpus, gpus = Work(folder, device, threads or 1), threads or 1, int(device.startswith("cuda"))
    if name == "process":
        return Processes(work, workers or 2)
    if name == "slurm":
        return Slurm(work, slurm or {}, cpus=cpus, gpus=gpus)
    return RayCluster(work, address, cpus=cpus, gpus=gpus)
