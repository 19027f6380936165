"""ENGINES: the table, and the one way to build one by name."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mhaug import checks
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


def build_engine(
    name: str,
    *,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    workers: int = 2,
    threads: int = 1,
    address: str | None = None,
    slurm: Mapping[str, Any] | None = None,
) -> Engine:
    """An engine of the table; options that it has no use for are left aside."""
    checks.one_of(name, "engine", ENGINES)
    checks.whole_number(workers, "workers", 1)
    checks.whole_number(threads, "threads", 1)
    folder = None if data_dir is None else str(Path(data_dir).resolve())
    if name == "batch":
        return InProcess(folder, device)
    work = Work(folder, device, threads)
    if name == "process":
        return Processes(work, workers)
    gpus = int(device.startswith("cuda"))
    if name == "slurm":
        return Slurm(work, slurm or {}, cpus=threads, gpus=gpus)
    return RayCluster(work, address, cpus=threads, gpus=gpus)
