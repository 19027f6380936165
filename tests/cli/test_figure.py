"""`mhaug figure`: an image, its numbers beside it, its claims checked."""

import json

import pytest

from cli.test_sample import run


def test_image_and_numbers_side_by_side(capsys, tmp_path):
    out = tmp_path / "deep" / "two.png"
    assert run("figure", "figure-2", "--out", str(out), "--json") == 0
    printed = capsys.readouterr().out.strip().splitlines()
    assert len(printed) == 1
    assert json.loads(printed[0])["figure"] == "ego-change"
    assert out.stat().st_size > 10_000
    numbers = json.loads(out.with_suffix(".json").read_text())
    assert numbers["paper"] == "figure-2"
    assert [claim["holds"] for claim in numbers["claims"]] == [True, True]


def test_words_for_people_and_silence(capsys, tmp_path):
    assert run("figure", "ego-change", "--out", str(tmp_path / "a.svg")) == 0
    assert "holds  messages at the centre" in capsys.readouterr().out
    assert run("figure", "ego-change", "--out", str(tmp_path / "a.svg"), "--quiet") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["grids"],
            "mhaug: 'figure' must be one of ego-change, ego-graph, count-term, grid, mixing, delivered, figure-2",
        ),
        (["grid", "--out", "grid.doc"], "mhaug: 'out' must be a file name that ends in .png, .svg or .pdf"),
        (["grid", "--dataset", "cora"], "mhaug: 'dataset' must be left out for the figure grid, which has its own"),
        (["mixing", "--node", "3"], "mhaug: 'node' must be left out for the figure mixing"),
        (["ego-graph", "--dataset", "grid", "--node", "100"], "mhaug: 'node' must be in 0..99; got 100"),
        (["ego-graph", "--dataset", "path", "--node", "0"], "mhaug: 'node' must be one whose 3-hop ego-graph has 10"),
        (["grid", "--device", "toaster"], "mhaug: 'device' must be one that this machine has"),
        ([], "mhaug: Missing argument"),
    ],
)
def test_a_wrong_request_is_one_line_and_status_2(capsys, words, line):
    assert run("figure", *words) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(line)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_help_has_an_example(capsys):
    assert run("figure", "--help") == 0
    assert "Example: mhaug figure" in capsys.readouterr().out
