"""ENGINES: the table, and the one way to build one by name."""

from collections.abc import Callable
from pathlib import Path

from mhaug import checks
from mhaug.experiments.engines.engine import Engine, Work
from mhaug.experiments.engines.in_process import InProcess
from mhaug.experiments.engines.processes import Processes
from mhaug.experiments.engines.ray_cluster import RayCluster

ENGINES: dict[str, Callable[..., Engine]] = {"batch": InProcess, "process": Processes, "ray": RayCluster}


def build_engine(
    name: str,
    *,
    data_dir: str | Path | None = None,
    device: str = "cpu",
    workers: int = 2,
    threads: int = 1,
    address: str | None = None,
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
    return RayCluster(work, address, cpus=threads, gpus=float(device.startswith("cuda")))
