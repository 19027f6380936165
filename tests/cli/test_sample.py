import json
import subprocess
import sys

import pytest

from mhaug import Trace, __version__
from mhaug.cli import main

FAST = ["--dataset", "grid", "--draws", "20", "--warmup", "5", "--chains", "2"]


def run(*words: str) -> int:
    """Exit status of a command."""
    try:
        main(list(words))
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_json_is_the_only_thing_on_standard_output(capsys, tmp_path):
    out, plot = tmp_path / "trace.nc", tmp_path / "deep" / "chain.png"
    assert run("sample", *FAST, "--node-strength", "0.2", "--out", str(out), "--plot", str(plot), "--json") == 0
    printed = capsys.readouterr().out.strip().splitlines()
    assert len(printed) == 1
    record = json.loads(printed[0])
    assert record["units"] == {"edges": 180, "nodes": 100}
    assert record["strength"]["edges"] == 0.3
    assert Trace.load(out).log_prob.shape == (2, 20)
    assert plot.stat().st_size > 10_000


def test_words_for_people_and_silence(capsys):
    assert run("sample", *FAST) == 0
    shown = capsys.readouterr().out
    assert "delivered" in shown
    assert "accepted flip/edges" in shown
    assert run("sample", *FAST, "--quiet") == 0
    assert capsys.readouterr().out == ""


def test_until_ess_stops_early(capsys):
    words = ["--dataset", "grid", "--spread", "3", "--step-size", "0.5", "--draws", "4000", "--until-ess", "50"]
    assert run("sample", *words) == 0
    drawn = int(capsys.readouterr().out.split(" draws each")[0].split()[-1])
    assert 100 <= drawn < 4000


def test_same_seed_same_numbers(capsys):
    records = []
    for seed in ("3", "3", "4"):
        assert run("sample", *FAST, "--seed", seed, "--json") == 0
        records.append(json.loads(capsys.readouterr().out)["quantities"])
    assert records[0] == records[1] != records[2]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["sample", "--strength", "2"], "mhaug: 'strength' must be a number in [0, 1]; got 2.0"),
        (["sample", "--spread", "0"], "mhaug: 'spread' must be a finite number above 0; got 0.0"),
        (["sample", "--node-strength", "2"], "mhaug: 'node_strength' must be a number in [0, 1]; got 2.0"),
        (
            ["sample", "--dataset", "cora", "--data-dir", "nowhere"],
            "mhaug: 'data_dir' must be an existing folder; got 'nowhere'",
        ),
        (
            ["sample", "--graph", "nothere.npz"],
            "mhaug: 'dataset' must be a known name or an existing path; there is no 'nothere.npz'",
        ),
        (
            ["sweep", "--graph", "no/where"],
            "mhaug: 'dataset' must be a known name or an existing path; there is no 'no/where'",
        ),
        (["sample", "--dataset", "nowhere"], "mhaug: 'dataset' must be one of digits, cora"),
        (["sample", *FAST, "--plot", "chain.doc"], "mhaug: 'plot' must be a file name that ends in .png"),
        (["sample", *FAST, "--out", "trace.pkl"], "mhaug: 'out' must be a file name that ends in .nc or .npz"),
        (["sample", "--draws", "many"], "mhaug: Invalid value for '--draws'"),
        (["sample", "--device", "toaster"], "mhaug: 'device' must be one that this machine has (cpu"),
        (["sample", "--bogus"], "mhaug: No such option: --bogus"),
        (["fly"], "mhaug: No such command 'fly'"),
    ],
)
def test_a_wrong_request_is_one_line_and_status_2(capsys, words, line):
    assert run(*words) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(line)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize(
    ("package", "words", "line"),
    [
        ("h5netcdf", ["--out", "y.nc"], "mhaug: NetCDF and DataTree need 'h5netcdf': pip install 'mhaug[trace]'"),
        ("matplotlib", ["--plot", "y.png"], "mhaug: pictures need matplotlib: pip install 'mhaug[plot]'"),
    ],
)
def test_a_missing_package_is_found_before_any_draw(capsys, monkeypatch, package, words, line):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr("mhaug.data.datasets.load_graph", lambda *_: 1 / 0)
    assert run("sample", *FAST, *words) == 2
    assert capsys.readouterr().err.startswith(line)


@pytest.mark.parametrize("command", ["sample", "sweep", "tune"])
def test_a_graph_may_be_called_so(command, capsys):
    assert run(command, "--graph", "nowhere") == 2
    assert capsys.readouterr().err.startswith("mhaug: 'dataset' must be one of digits, cora")


def test_anything_else_is_status_1(capsys, monkeypatch):
    monkeypatch.setattr("mhaug.data.datasets.load_graph", lambda *_: 1 / 0)
    assert run("sample", *FAST) == 1
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_ctrl_c_while_packages_are_imported():
    """Also where the package that it meets would swallow it."""
    code = (
        "import os, signal, sys, time\n"
        "class Swallows:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        try:\n"
        "            if name == 'mhaug.cli.app': os.kill(os.getpid(), signal.SIGINT); time.sleep(10)\n"
        "        except BaseException: pass\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Swallows())\n"
        "from mhaug.cli import main\n"
        "main(['datasets'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "mhaug: stopped\n")


def test_datasets_lists_every_name(capsys, tmp_path):
    assert run("datasets", "--data-dir", str(tmp_path), "--json") == 0
    rows = json.loads(capsys.readouterr().out)["datasets"]
    assert [row["name"] for row in rows][:4] == ["digits", "cora", "citeseer", "pubmed"]
    assert run("datasets") == 0
    assert "toy graphs" in capsys.readouterr().out


def test_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"mhaug {__version__}\n"
    assert run() == 0
    assert "Augmented graphs from an explicit distribution" in capsys.readouterr().out


def test_help_has_an_example(capsys):
    for command in ("sample", "datasets"):
        assert run(command, "--help") == 0
        assert "Example: mhaug" in capsys.readouterr().out


def test_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "mhaug", "--help"], capture_output=True, text=True, check=True)
    assert "sample" in done.stdout
