"""Many machines, by Ray. A worker that dies in mid-run is made up for by another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from mhaug.checks import RequestError
from mhaug.experiments.engines.engine import Doing, Outcome, Work, words_of
from mhaug.experiments.record import RunRecord
from mhaug.experiments.spec import RunSpec
from mhaug.experiments.store import Failure


@dataclass(frozen=True)
class RayCluster:
    """Runs as Ray tasks of `cpus` cores (and `gpus` devices) each; `address` as `ray.init` takes it.

    None starts a cluster on this machine. Data folders must be there on every machine under the same path.
    """

    work: Doing = field(default_factory=Work)
    address: str | None = None
    cpus: float = 1.0
    gpus: float = 0.0
    retries: int = 2  # of a run whose worker died; a run that raised an error is not tried again

    def run(self, specs: Sequence[RunSpec]) -> Iterator[Outcome]:
        """All at once as far as Ray is concerned; outcomes as they come."""
        ray = _ray()
        mine = not ray.is_initialized()
        if mine:
            ray.init(address=self.address, log_to_driver=False, configure_logging=False)
        try:
            task: Any = ray.remote(num_cpus=self.cpus, num_gpus=self.gpus, max_retries=self.retries)(_call)
            asked = {task.remote(self.work, spec.to_json()): spec for spec in specs}
            while asked:
                (ready, *_), _ = ray.wait(list(asked), num_returns=1)
                spec = asked.pop(ready)
                try:
                    yield RunRecord.from_json(ray.get(ready))
                # an error inside the run, or a worker that died too often
                except Exception as error:
                    yield Failure(spec, words_of(getattr(error, "cause", None) or error))
        finally:
            if mine:
                ray.shutdown()


def _call(work: Doing, spec: dict[str, Any]) -> dict[str, Any]:
    return work(spec)


def _ray() -> Any:
    try:
        import ray
    except ImportError as missing:
        raise RequestError("engine 'ray' needs the package ray: pip install 'mhaug[ray]'") from missing
    return ray
