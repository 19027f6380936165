"""`mhaug sweep` as people use it: what it refuses, what it says of failures, what Ctrl-C leaves."""

import json

import pytest

from cli.test_sample import run
from mhaug.experiments import sweep as sweep_module
from mhaug.experiments.store import RunStore

TINY = ["--engine", "batch", "--set", "max_updates=3", "--set", "hidden=8", "--method", "vanilla"]


@pytest.fixture(autouse=True)
def _somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_one_seed_and_what_is_there_already(capsys):
    words = ["sweep", "--dataset", "planted-partition", *TINY]
    assert run(*words, "--seed", "0") == 0
    assert "runs asked for: 1; in runs.sqlite already: 0\nfinished now: 1; failed: 0\n" in capsys.readouterr().out
    assert run(*words, "--seeds", "0,1", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {"asked": 2, "finished": 1, "failed": 0, "store": "runs.sqlite"}


def test_a_failed_run_is_told_and_the_status_is_1(capsys):
    assert run("sweep", "--dataset", "grid", "--dataset", "planted-partition", "--seeds", "0", *TINY) == 1
    out = capsys.readouterr().out
    assert "finished now: 1; failed: 1; --retry-failed runs them again" in out
    assert (
        "failed: grid, gcn, vanilla, seed 0, hidden=8, max_updates=3: RequestError: dataset must have labels" in out
    )


def test_ctrl_c_says_how_to_go_on(capsys, monkeypatch):
    def stopped(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep_module, "run_sweep", stopped)
    assert run("sweep", "--dataset", "planted-partition", *TINY) == 1
    captured = capsys.readouterr()
    assert "what is finished is in runs.sqlite; the same command goes on from there" in captured.out
    assert captured.err.strip() == "mhaug: stopped"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], "mhaug: sweep must be told what to run"),
        (["--dataset", "nowhere"], "mhaug: 'dataset' must be one of digits, cora, "),
        (["--dataset", "digits", "--grid", "dropout"], "mhaug: --grid must be name=value, such as dropout=0.5,0.8"),
        (["--dataset", "digits", "--slurm", "gpu"], "mhaug: --slurm must be name=value, such as partition=gpu"),
        (["file.toml"], "mhaug: 'seeds' must be a list of values; got '0-3'"),
        (["typo.toml"], "mhaug: 'of_method' must be one of vanilla, "),
        (["flat.toml"], "mhaug: 'settings' must be a table [settings]; got 3"),
    ],
)
def test_a_wrong_request_runs_nothing(words, line, capsys, tmp_path):
    (tmp_path / "file.toml").write_text('datasets = ["digits"]\nseeds = "0-3"\n')
    (tmp_path / "typo.toml").write_text('datasets = ["digits"]\n[of_method.mh_aug]\nhidden = 8\n')
    (tmp_path / "flat.toml").write_text('datasets = ["digits"]\nsettings = 3\n')
    assert run("sweep", *words) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(line)
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "runs.sqlite").exists() or not list(RunStore("runs.sqlite").records())
