"""`mhaug tune` as people use it: what it says, what it writes, and that what it wrote is heeded."""

import json
import os
import tomllib

import pytest

from cli.test_sample import run
from mhaug import RunSpec

pytest.importorskip("optuna", reason="needs the package optuna")
TINY = [
    "--dataset",
    "planted-partition",
    "--method",
    "drop-edge",
    "--trials",
    "2",
    "--seeds",
    "0",
    "--engine",
    "batch",
]
TINY += ["--set", "max_updates=3", "--set", "hidden=8"]


def test_the_choice_is_told_written_and_heeded(tmp_path, monkeypatch, capsys):
    study, presets = str(tmp_path / "study.log"), str(tmp_path / "presets.toml")
    assert run("tune", *TINY, "--study", study, "--presets", presets, "--json") == 0
    (line,) = capsys.readouterr().out.strip().splitlines()
    said = json.loads(line)
    (row,) = tomllib.loads((tmp_path / "presets.toml").read_text())["preset"]
    # what --set fixed is part of the choice
    assert row["settings"] == said["settings"]
    assert {"max_updates": 3, "hidden": 8}.items() <= row["settings"].items()
    assert {"dropout", "edge_rate", "learning_rate"} < row["settings"].keys()
    assert row["note"].startswith(f"tuned: planted-partition/gcn/drop-edge in {study}, 2 trials of 1 seeds")
    here = ("planted-partition", "gcn", "drop-edge")
    assert RunSpec(*here).all_settings()["max_updates"] == 2000
    monkeypatch.setenv("MHAUG_PRESETS", presets)
    assert row["settings"].items() <= RunSpec(*here).all_settings().items()
    assert RunSpec("planted-partition", "gcn", "vanilla").all_settings()["max_updates"] == 2000
    # the same command again has nothing left to do
    assert run("tune", *TINY, "--study", study) == 0
    again = capsys.readouterr()
    assert f"the presets: validation {said['presets_validation_accuracy']:.4f}" in again.out
    assert "2 trials of 1 seeds" in again.out
    assert again.err == f"no trial was left to run: what follows is read from {study}\n"


def test_a_stopped_search_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("mhaug.experiments.tune._run", stop)
    assert run("tune", *TINY, "--study", str(tmp_path / "s.log")) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == [
        f"the same command goes on with the finished trials of --study {tmp_path / 's.log'}",
        "mhaug: stopped",
    ]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--trials", "0"], "mhaug: 'trials' must be a whole number of at least 1; got 0"),
        (["--dataset", "nowhere"], "mhaug: 'dataset' must be one of digits, cora, "),
        (["--set", "rate=1"], "mhaug: 'settings of drop-edge with gcn' must be one of "),
    ],
)
def test_a_wrong_request_runs_nothing(words, line, tmp_path, capsys):
    study = tmp_path / "study.log"
    assert run("tune", *TINY, *words, "--study", str(study)) == 2
    assert capsys.readouterr().err.startswith(line)
    assert not study.exists()


def test_a_search_in_which_everything_fails_says_why(tmp_path, capsys):
    where = ["--study", os.fspath(tmp_path / "study.log")]
    assert run("tune", *TINY, *where, "--dataset", "grid") == 1
    assert (
        "no trial was finished; the last failed with RequestError: dataset must have labels"
        in capsys.readouterr().err
    )
