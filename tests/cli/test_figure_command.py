"""`mhaug figure`: an image, its numbers beside it, its claims checked."""

import json

from cli.test_sample import run


def test_figure_2_has_the_numbers_of_its_caption(capsys, tmp_path):
    out = tmp_path / "figure.png"
    assert run("figure", "figure-2", "--out", str(out), "--json") == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said["figure"] == "ego-change"
    assert all(claim["holds"] for claim in said["claims"])
    assert out.stat().st_size > 10_000
    assert json.loads(out.with_suffix(".json").read_text())["seed"] == 0


def test_an_unknown_figure_is_refused_with_the_list(capsys):
    assert run("figure", "figure-9") == 2
    assert "'name' must be one of ego-change, ego-graph, count-term, grid" in capsys.readouterr().err
