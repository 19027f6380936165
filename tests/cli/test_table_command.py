"""`mhaug table` and `mhaug report` as they are typed."""

import csv
import json

import pytest

from cli.test_sample import run
from experiments.some_records import curves, runs
from mhaug.experiments.store import RunStore


@pytest.fixture
def store(tmp_path):
    """A run store with two methods."""
    kept = RunStore(tmp_path / "runs.sqlite")
    for each in [*runs([0.81, 0.82, 0.83], history=curves()), *runs([0.84, 0.85, 0.86], method="mh-aug")]:
        kept.add(each)
    kept.close()
    return tmp_path / "runs.sqlite"


def test_a_table_for_people_in_80_characters(capsys, store):
    assert run("table", "--store", str(store), "--all") == 0
    shown = capsys.readouterr().out
    assert "▸85.00±1.00" in shown
    assert "85.16 −0.16" in shown
    assert "n3 p–" in shown
    # one legend, of what is on the screen
    assert shown.count("ours less") == 1
    assert "brackets" not in shown
    assert "▸: best mean of its column." in shown
    assert shown.splitlines()[1].split() == ["method", "cora", "citeseer", "computers", "photo", "cs"]
    assert max(map(len, shown.splitlines())) <= 80


def test_files_and_json(capsys, store, tmp_path):
    out = tmp_path / "deep" / "table"
    assert run("table", "--store", str(store), "--out", str(out), "--json") == 0
    printed = capsys.readouterr().out.strip().splitlines()
    assert len(printed) == 1
    cells = json.loads(printed[0])["cells"]
    assert [(cell["method"], cell["best"], cell["runs"]) for cell in cells] == [
        ("vanilla", False, 3),
        ("mh-aug", True, 3),
    ]
    assert sorted(path.name for path in out.iterdir()) == [
        "table.csv", "table.html", "table.md", "table.tex", "table_short.md",
    ]  # fmt: skip
    rows = list(csv.DictReader((out / "table.csv").open()))
    assert rows[1]["difference"] == "-0.16"


def test_records_are_read_from_the_usual_folder(capsys, store, tmp_path, monkeypatch):
    kept = RunStore(store)
    (tmp_path / "results" / "table1").mkdir(parents=True)
    kept.export_lines(tmp_path / "results" / "table1" / "runs.jsonl")
    monkeypatch.chdir(tmp_path)
    assert run("table", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["cells"]) == 2


def test_a_report(capsys, store, tmp_path):
    out = tmp_path / "deep" / "report.html"
    words = ["report", "--store", str(store), "--figures", str(tmp_path / "none"), "--out", str(out)]
    assert run(*words, "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["runs"], answer["failed"], answer["figures"]) == (6, 0, 0)
    assert answer["bytes"] == out.stat().st_size
    assert run(*words, "--quiet") == 0
    assert capsys.readouterr().out == ""


def test_a_report_has_no_figures_of_others(capsys, store, tmp_path, monkeypatch):
    """Those of the repository where it is made, say."""
    (tmp_path / "results" / "figures").mkdir(parents=True)
    (tmp_path / "results" / "figures" / "some.svg").write_text("<svg/>")
    monkeypatch.chdir(tmp_path)
    assert run("report", "--store", str(store), "--json") == 0
    assert json.loads(capsys.readouterr().out)["figures"] == 0
    # six runs of 1.5 seconds
    assert "<dd>9.0 s</dd>" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["table", "--store", "nowhere"], "mhaug: records must be a run store, a .jsonl file or a folder of them"),
        (["table", "--store", "."], "mhaug: records must hold finished runs"),
        (["report", "--store", "."], "mhaug: store must hold runs"),
        (["report", "--store", ".", "--out", "report.pdf"], "mhaug: 'out' must be a file name that ends in .html"),
    ],
)
def test_a_wrong_request_is_one_line_and_status_2(capsys, words, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*words) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(line)
    assert captured.err.count("\n") == 1
