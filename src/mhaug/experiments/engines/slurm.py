"""A SLURM cluster, by submitit: every run is a task of one job array."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mhaug.checks import RequestError, one_line
from mhaug.experiments.engines.engine import Doing, Outcome, Work, answer, outcome
from mhaug.experiments.spec import RunSpec
from mhaug.experiments.store import Failure


@dataclass(frozen=True)
class Slurm:
    """Jobs of `cpus` cores (and `gpus` devices) each; `options` are sbatch's, such as partition and time (minutes).

    `folder` holds submitit's own files and logs. It, the data folder and this environment must be there on every
    machine under the same path. `cluster` is submitit's name of what runs the jobs; tests have one without SLURM.
    """

    work: Doing = field(default_factory=Work)
    options: Mapping[str, Any] = field(default_factory=dict)
    cpus: int = 1
    gpus: int = 0
    folder: str = "slurm-jobs"
    cluster: str = "slurm"
    poll: float = 10.0  # seconds between two looks at the queue

    def run(self, specs: Sequence[RunSpec]) -> Iterator[Outcome]:
        """All are submitted at once; outcomes as they come. What is left is cancelled when the driver stops."""
        submitit = _submitit()
        try:
            executor = submitit.AutoExecutor(folder=os.path.abspath(self.folder), cluster=self.cluster)
            options = {f"slurm_{name}": value for name, value in self.options.items()}
            executor.update_parameters(name="mhaug", cpus_per_task=self.cpus, gpus_per_node=self.gpus, **options)
        except (RuntimeError, NameError, ValueError) as refused:
            reason = one_line(str(refused).split("Valid arguments")[0])
            raise RequestError(
                f"engine 'slurm' must be used where sbatch is, with sbatch's names: {reason}"
            ) from refused
        with executor.batch():
            asked = {executor.submit(answer, self.work, spec.to_json()): spec for spec in specs}
        try:
            for job in submitit.helpers.as_completed(list(asked), poll_frequency=self.poll):
                yield _heard(job, asked.pop(job))
        finally:
            for job in asked:
                job.cancel()


def _heard(job: Any, spec: RunSpec) -> Outcome:
    try:
        return outcome(spec, job.result())
    # the cluster ended it, or it never began
    except Exception:
        return Failure(spec, f"job {job.job_id} ended without an answer ({job.state}); its log: {job.paths.stderr}")


def _submitit() -> Any:
    try:
        import submitit
    except ImportError as missing:
        raise RequestError("engine 'slurm' needs the package submitit: pip install 'mhaug[slurm]'") from missing
    return submitit
