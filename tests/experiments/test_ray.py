"""A local Ray cluster of two workers: runs, errors, and a worker that is killed in mid-run."""

import json
import subprocess
import sys

import pytest

from experiments.work import Deadly
from mhaug import RunRecord, RunSpec
from mhaug.experiments.engines.ray_cluster import RayCluster

ray = pytest.importorskip("ray", reason="needs the package ray")
TINY = {"max_updates": 5, "hidden": 8}


@pytest.fixture(scope="module")
def cluster(request):
    tests = request.path.parents[1]
    ray.init(
        num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {"PYTHONPATH": str(tests)}}
    )
    yield
    ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_a_killed_worker_is_made_up_for_and_an_error_is_recorded(tmp_path):
    asked = [RunSpec("planted-partition", method="vanilla", seed=seed, settings=TINY) for seed in range(4)]
    engine = RayCluster(Deadly(grave=str(tmp_path / "grave")))
    outcomes = {outcome.spec.seed: outcome for outcome in engine.run(asked)}
    assert (tmp_path / "grave").read_text() == "in mid-run"
    assert all(isinstance(outcomes[seed], RunRecord) for seed in (0, 1, 3))
    assert outcomes[2].error == "ValueError: seed 2 is unlucky"
    assert ray.is_initialized()  # it was not the engine's to shut down


@pytest.mark.usefixtures("cluster")
def test_a_cluster_is_found_by_its_address(tmp_path):
    """As from another program: this one has begun the cluster."""
    address = ray.get_runtime_context().gcs_address
    words = ["sweep", "--dataset", "planted-partition", "--method", "vanilla", "--seeds", "0", "--json"]
    words += ["--set", "max_updates=3", "--engine", "ray", "--address", address, "--store", str(tmp_path / "runs")]
    done = subprocess.run([sys.executable, "-m", "mhaug", *words], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["finished"] == 1
    assert len(ray.nodes()) == 1
