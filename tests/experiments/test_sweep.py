"""Sweeps: what is run, what is skipped, what survives a kill."""

import os
import signal
import sqlite3
import struct
import subprocess
import sys
import time

import pytest

from experiments.work import Deadly
from mhaug import RunRecord, RunSpec
from mhaug.checks import RequestError
from mhaug.experiments.engines import processes
from mhaug.experiments.engines.catalogue import build_engine
from mhaug.experiments.engines.in_process import InProcess
from mhaug.experiments.engines.processes import Processes
from mhaug.experiments.store import Failure, RunStore
from mhaug.experiments.sweep import Sweep, run_sweep

TINY = {"max_updates": 5, "hidden": 8}


def specs(seeds=range(4), **options):
    return [RunSpec("planted-partition", method="vanilla", seed=seed, settings={**TINY, **options}) for seed in seeds]


def test_every_combination_once():
    asked = Sweep(["cora", "digits"], methods=["vanilla", "uda"], seeds=[0, 1], grid={"dropout": [0.5, 0.8]},
                  settings={"hidden": 8}, of_method={"uda": {"hidden": 16}}).specs()  # fmt: skip
    assert len(asked) == len(set(asked)) == 16
    assert {spec.own_settings()["hidden"] for spec in asked if spec.method == "uda"} == {16}


def test_a_grid_that_a_method_overrides_asks_once():
    asked = Sweep(["digits"], methods=["vanilla", "vanilla"], seeds=[0], grid={"hidden": [8, 16]},
                  of_method={"vanilla": {"hidden": 32}}).specs()  # fmt: skip
    assert [spec.own_settings() for spec in asked] == [{"hidden": 32}]


def test_a_file_says_the_same(tmp_path):
    path = tmp_path / "sweep.toml"
    path.write_text(
        'datasets = ["cora"]\nmethods = ["vanilla", "uda"]\nseeds = [0, 1]\n[settings]\nhidden = 8\n'
        "[grid]\ndropout = [0.5, 0.8]\n[of_method.uda]\nhidden = 16\n"
    )
    same = Sweep(["cora"], methods=["vanilla", "uda"], seeds=[0, 1], grid={"dropout": [0.5, 0.8]},
                 settings={"hidden": 8}, of_method={"uda": {"hidden": 16}})  # fmt: skip
    assert Sweep.from_toml(path).specs() == same.specs()
    path.write_text('datasets = ["cora"]\nmethod = ["vanilla"]\n')
    with pytest.raises(RequestError, match=r"'names in a sweep file' must be one of datasets, .*; got 'method'"):
        Sweep.from_toml(path)
    path.write_text("datasets = [")
    with pytest.raises(RequestError, match="sweep must be a TOML file"):
        Sweep.from_toml(path)


def test_finished_runs_are_not_run_again_and_failures_do_not_stop_the_rest():
    store = RunStore(":memory:")
    asked = [*specs([0]), *specs([1], learning_rate=1e38), *specs([2])]
    first = run_sweep(asked, store, InProcess())
    assert (first.total, first.done, first.failed) == (3, 2, 1)
    assert "NonFiniteLossError" in store.failures()[0].error
    assert run_sweep(asked, store, InProcess()).total == 0
    assert run_sweep(asked, store, InProcess(), retry_failed=True).failed == 1


def test_side_by_side_one_bad_dataset_spoils_nothing(monkeypatch):
    missing = RunSpec("/nowhere/graph.pt", method="vanilla", settings=TINY)
    outcomes = list(InProcess(limit=8).run([*specs(), missing]))
    assert [isinstance(outcome, RunRecord) for outcome in outcomes] == [True] * 4 + [False]
    assert "RequestError" in outcomes[-1].error


def test_a_worker_that_dies_costs_its_run_and_is_replaced():
    outcomes = {outcome.spec.seed: outcome for outcome in Processes(Deadly(), workers=2).run(specs(range(5)))}
    assert outcomes[1].error == "the worker died with exit status -9"
    assert outcomes[2].error == "ValueError: seed 2 is unlucky"
    assert all(isinstance(outcomes[seed], RunRecord) for seed in (0, 3, 4))


class Gone:
    """A process that is over."""

    exitcode = -9

    def join(self):
        pass

    terminate = join


def test_a_worker_that_dies_in_the_middle_of_its_answer_costs_its_run():
    mine, theirs = processes._CONTEXT.Pipe()
    os.write(theirs.fileno(), struct.pack("!i", 1000) + b"half an ans")
    theirs.close()
    heard, alive = processes._heard(processes._Worker(Gone(), mine, specs()[0]))
    assert (heard.error, alive) == ("the worker died with exit status -9", False)


def test_a_worker_that_died_before_its_work_costs_its_run_and_is_replaced(monkeypatch):
    hire, hired = Processes._hire, []

    def first_one_dies(engine):
        mine, theirs = processes._CONTEXT.Pipe()
        theirs.close()
        hired.append(hire(engine) if hired else processes._Worker(Gone(), mine))
        return hired[-1]

    monkeypatch.setattr(Processes, "_hire", first_one_dies)
    outcomes = list(Processes(Deadly(), workers=1).run(specs([0, 3])))
    assert [isinstance(outcome, RunRecord) for outcome in outcomes] == [False, True]


def test_processes_and_this_process_give_the_same_numbers():
    here, there = (
        {outcome.spec: outcome.test_accuracy for outcome in engine.run(specs([0, 1]))}
        for engine in (InProcess(), build_engine("process", workers=1))
    )
    assert here == there


def test_a_killed_sweep_loses_at_most_the_runs_in_flight(tmp_path):
    store = tmp_path / "runs.sqlite"
    words = [sys.executable, "-m", "mhaug", "sweep", "--dataset", "planted-partition", "--method", "vanilla"]
    words += ["--seeds", "0-11", "--set", "max_updates=150", "--set", "hidden=8", "--store", str(store), "--json"]
    child = subprocess.Popen([*words, "--workers", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def rows():
        if not store.exists():
            return {}
        with sqlite3.connect(store) as file:
            try:
                return dict(file.execute("select seed, record from runs"))
            except sqlite3.OperationalError:
                return {}

    deadline = time.monotonic() + 120
    while len(rows()) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    before = rows()
    assert 3 <= len(before) < 12
    subprocess.run([*words, "--engine", "batch"], check=True, stdout=subprocess.DEVNULL)
    after = rows()
    assert sorted(after) == list(range(12))
    # the clock inside a record is never the same twice: these were not run again
    assert all(after[seed] == record for seed, record in before.items())


def test_unknown_engines_are_refused():
    with pytest.raises(RequestError, match="'engine' must be one of batch, process, ray, slurm; got 'magic'"):
        build_engine("magic")


@pytest.mark.parametrize(
    ("engine", "option"),
    [("batch", {"workers": 2}), ("ray", {"workers": 2}), ("slurm", {"workers": 2}), ("process", {"address": "auto"})],
)
def test_an_option_that_an_engine_would_not_heed_is_refused(engine, option):
    ((name, value),) = option.items()
    with pytest.raises(RequestError, match=f"'{name}' must be left out with the engine '{engine}'; got {value!r}"):
        build_engine(engine, **option)


@pytest.mark.parametrize("engine", ["batch", "process", "ray", "slurm"])
def test_a_data_folder_that_is_missing_is_refused_before_any_run(engine, tmp_path):
    with pytest.raises(RequestError, match=r"'data_dir' must be an existing folder; got .*nowhere"):
        build_engine(engine, data_dir=tmp_path / "nowhere")


def test_threads_of_this_process_are_as_asked():
    import torch

    before = torch.get_num_threads()
    try:
        list(build_engine("batch", threads=2).run([]))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_failure_has_its_spec():
    assert Failure(specs()[0], "x").spec.seed == 0
