"""A local Ray cluster of two workers: runs, errors, and a worker that is killed in mid-run."""

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
    assert (tmp_path / "grave").exists()
    assert all(isinstance(outcomes[seed], RunRecord) for seed in (0, 1, 3))
    assert outcomes[2].error == "ValueError: seed 2 is unlucky"
    assert ray.is_initialized()  # it was not the engine's to shut down
