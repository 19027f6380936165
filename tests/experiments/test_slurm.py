"""The engine for SLURM, with submitit's own stand-ins for a cluster: this process, and processes of this machine."""

import re

import pytest

from experiments.work import Deadly
from mhaug import RunRecord, RunSpec
from mhaug.checks import RequestError
from mhaug.experiments.engines.catalogue import build_engine
from mhaug.experiments.engines.slurm import Slurm

pytest.importorskip("submitit", reason="needs the package submitit")


def specs(*seeds):
    tiny = {"max_updates": 5, "hidden": 8}
    return [RunSpec("planted-partition", method="vanilla", seed=seed, settings=tiny) for seed in seeds]


def test_records_and_errors_come_back(tmp_path):
    engine = Slurm(Deadly(), {"partition": "any", "time": 5}, folder=str(tmp_path), cluster="debug", poll=0.01)
    outcomes = {outcome.spec.seed: outcome for outcome in engine.run(specs(0, 2))}
    assert isinstance(outcomes[0], RunRecord)
    assert outcomes[2].error == "ValueError: seed 2 is unlucky"


def test_a_job_that_is_killed_is_a_failure_in_one_line(tmp_path, monkeypatch, request):
    monkeypatch.setenv("PYTHONPATH", str(request.path.parents[1]), prepend=":")
    # how long submitit waits for the answer of a job that is over: a shared disk may be slow, this one is not
    monkeypatch.setattr("submitit.core.core.Job._results_timeout_s", 1)
    (outcome,) = Slurm(Deadly(), folder=str(tmp_path), cluster="local", poll=0.1).run(specs(1))
    assert re.fullmatch(r"job \d+ ended without an answer \(.*\); its log: .*_0_log.err", outcome.error)


def test_jobs_in_flight_are_cancelled_when_the_driver_stops(tmp_path, monkeypatch):
    from submitit.local.debug import DebugJob

    cancelled = []
    monkeypatch.setattr(DebugJob, "cancel", lambda job, check=True: cancelled.append(job))
    outcomes = Slurm(Deadly(), folder=str(tmp_path), cluster="debug", poll=0.01).run(specs(2, 0, 3))
    assert next(outcomes).spec.seed == 2
    outcomes.close()
    assert len(cancelled) == 2


def test_a_machine_without_slurm_and_names_that_sbatch_does_not_know(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RequestError, match="engine 'slurm' must be used where sbatch is"):
        list(build_engine("slurm", slurm={"partition": "gpu"}).run(specs(0)))
    with pytest.raises(RequestError, match="Unknown argument 'quue'"):
        list(Slurm(options={"quue": 1}, folder=str(tmp_path), cluster="local").run(specs(0)))
