"""`mhaug sweep` as people use it: what it refuses, what it says of failures, what Ctrl-C leaves."""

import json

import pytest

from cli.test_sample import run
from experiments.some_records import record
from experiments.test_store_file import earlier_store
from mhaug import RunSpec
from mhaug.experiments import sweep as sweep_module
from mhaug.experiments.store import Failure, RunStore

TINY = ["--engine", "batch", "--set", "max_updates=3", "--set", "hidden=8", "--method", "vanilla"]
CORA = ["--dataset", "cora"]


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


def test_a_run_that_is_asked_for_twice_is_one(capsys):
    words = ["sweep", "--dataset", "planted-partition", *TINY, "--method", "vanilla", "--seeds", "0"]
    assert run(*words) == 0
    assert "runs asked for: 1; in runs.sqlite already: 0\nfinished now: 1; failed: 0\n" in capsys.readouterr().out


def test_a_failure_under_earlier_presets_is_not_one_of_today(capsys):
    """The same spec, under another key."""
    spec = RunSpec("planted-partition", method="vanilla", settings={"max_updates": 3, "hidden": 8})
    store = RunStore("runs.sqlite")
    store._keys[spec] = "that of earlier presets"
    store.add(Failure(spec, "no luck"))
    store.close()
    assert run("sweep", "--dataset", "planted-partition", *TINY, "--seeds", "0") == 0
    assert "finished now: 1; failed: 0" in capsys.readouterr().out


def test_two_sweeps_do_not_share_a_store(capsys):
    with RunStore("runs.sqlite").alone():
        assert run("sweep", "--dataset", "planted-partition", *TINY) == 2
    captured = capsys.readouterr()
    assert captured.err == "mhaug: store must be used by one sweep at a time; 'runs.sqlite' is in use\n"
    assert captured.out == ""


def test_a_sweep_of_an_earlier_store_goes_on(capsys):
    words = ["sweep", "--dataset", "planted-partition", *TINY, "--seeds", "0,1"]
    earlier_store("runs.sqlite", [record(0.8, dataset="planted-partition", settings={"max_updates": 3, "hidden": 8})])
    assert run(*words, "--json") == 0
    assert json.loads(capsys.readouterr().out)["finished"] == 1


@pytest.mark.parametrize(("quiet", "lines"), [([], 2), (["--json"], 2), (["--quiet"], 0)])
def test_where_there_is_no_terminal_a_line_is_printed_now_and_then(capsys, monkeypatch, quiet, lines):
    from mhaug import counted as module

    monkeypatch.setattr(module, "EVERY", 0.0)
    assert run("sweep", "--dataset", "planted-partition", *TINY, "--seeds", "0,1", *quiet) == 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == lines
    assert all("left  last: planted-partition gcn vanilla" in line for line in said)


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
        (["number.toml"], "mhaug: 'dataset' must be one of digits, "),
        (["list.toml"], "mhaug: 'method' must be one of vanilla, "),
        (
            ["table.toml"],
            "mhaug: 'hidden' must be a number, a word, true, false, null or a list of them",
        ),
        (["of.toml"], "mhaug: 'of_method' must be a table [of_method.uda]; got 3"),
        (["latin.toml"], "mhaug: sweep must be a TOML file; got 'latin.toml' ('utf-8' codec"),
        ([*CORA, "--set", "hidden=-3"], "mhaug: 'hidden' must be a whole number of at least 1; got -3"),
        ([*CORA, "--set", "hidden=[1,2]"], "mhaug: 'hidden' must be a whole number of at least 1; got (1, 2)"),
        ([*CORA, "--set", "dropout=2"], "mhaug: 'dropout' must be a number in [0, 1]; got 2"),
        ([*CORA, "--workers", "0"], "mhaug: 'workers' must be a whole number of at least 1; got 0"),
        ([*CORA, "--engine", "batch", "--workers", "2"], "mhaug: 'workers' must be left out with the engine 'batch'"),
        ([*CORA, "--store", "flat.toml/runs.sqlite"], "mhaug: store must be a path that can be written"),
        ([*CORA, "--export", "flat.toml/records"], "mhaug: 'export' must be a folder that can be written (Not a dir"),
    ],
)
def test_a_wrong_request_runs_nothing(words, line, capsys, tmp_path):
    (tmp_path / "file.toml").write_text('datasets = ["digits"]\nseeds = "0-3"\n')
    (tmp_path / "typo.toml").write_text('datasets = ["digits"]\n[of_method.mh_aug]\nhidden = 8\n')
    (tmp_path / "flat.toml").write_text('datasets = ["digits"]\nsettings = 3\n')
    (tmp_path / "number.toml").write_text("datasets = [1]\n")
    (tmp_path / "list.toml").write_text('datasets = ["digits"]\nmethods = [["vanilla"]]\n')
    (tmp_path / "table.toml").write_text('datasets = ["digits"]\n[settings]\nhidden = {a = 1}\n')
    (tmp_path / "of.toml").write_text('datasets = ["digits"]\n[of_method]\nuda = 3\n')
    (tmp_path / "latin.toml").write_bytes('datasets = ["digits"] # Müller\n'.encode("latin-1"))
    assert run("sweep", *words) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(line)
    assert captured.err.count("\n") == 1
    assert not (tmp_path / "runs.sqlite").exists()
