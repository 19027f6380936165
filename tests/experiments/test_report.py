"""The report: one page that a browser shows whole, at any width, with nothing from outside."""

import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest

from experiments.browser import browser, look, screenshot
from experiments.some_records import curves, record, runs
from mhaug import RunSpec
from mhaug.checks import RequestError
from mhaug.cli.settings import parse_seeds, parse_settings
from mhaug.experiments.figures.canvas import figure, save
from mhaug.experiments.report import curves as curves_module
from mhaug.experiments.report.build import build_report
from mhaug.experiments.report.commands import command
from mhaug.experiments.report.material import read_material
from mhaug.experiments.report.pictures import pictures
from mhaug.experiments.report.series import series, strength
from mhaug.experiments.store import Failure, RunStore
from mhaug.experiments.table import table_of
from mhaug.training.plan import every_setting


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A report with everything in it."""
    folder = tmp_path_factory.mktemp("report")
    store = RunStore(folder / "runs.sqlite")
    for backbone in ("gcn", "sage"):
        for dataset in ("cora", "citeseer", "photo"):
            where = {"backbone": backbone, "dataset": dataset}
            done = runs([0.81, 0.82, 0.83], history=curves(), **where)
            done += runs([0.84, 0.85, 0.86], method="mh-aug", history=curves(chain=True), **where)
            for each in done:
                store.add(each)
    store.add(Failure(RunSpec("cora", "gcn", "uda", 3), "OutOfMemoryError: <b>no room</b> & no hope"))
    store.close()
    drawing, axes = figure(1, 3, size=(12, 3))
    axes[0, 0].plot([0, 1])
    save(drawing, folder / "figures" / "some_mixing.png")
    made = folder / "report.html"
    made.write_text(build_report(read_material([folder / "runs.sqlite"], folder / "figures")), encoding="utf-8")
    return made


def test_the_page_needs_nothing_else(page):
    text = page.read_text(encoding="utf-8")
    assert "Content-Security-Policy\" content=\"default-src 'none'" in text
    assert "<script" not in text
    sources = re.findall(r'(?:src|href)="([^"]{0,12})', text)
    assert sources
    assert all(source.startswith(("data:image/", "#")) for source in sources)


def test_every_section_is_there_and_reachable(page):
    text = page.read_text(encoding="utf-8")
    linked = re.findall(r'href="#(\w+)"', text)
    assert linked == ["table", "figures", "curves", "chains", "failures", "again"]
    assert all(f'<section id="{name}">' in text for name in linked)
    # words of others cannot become part of the page
    assert "&lt;b&gt;no room&lt;/b&gt; &amp; no hope" in text


@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_table_and_figures(page, width, tmp_path):
    browser()
    seen = look(page, width, tmp_path)
    assert seen["window"] == width
    assert seen["page"] == width  # tables scroll in their boxes, the page does not
    # one figure, two methods on six graphs, a chain on each
    assert len(seen["pictures"]) == 1 + 12 + 6
    assert all(picture["natural"] > 0 and picture["alt"] for picture in seen["pictures"])
    assert all(min(picture["shown"]) >= 140 for picture in seen["pictures"])
    results = [table for table in seen["tables"] if table["rows"] == 3][:2]
    assert all(shown > 300 for table in results for shown in table["shown"][:1])
    assert seen["bold"] == [["85.00 ± 1.00", 700]] * 6
    assert "paper 85.16 ± 0.35 (−0.16)" in seen["text"]
    assert "OutOfMemoryError: <b>no room</b> & no hope" in seen["text"]
    assert "mhaug sweep --dataset cora --backbone gcn --method mh-aug --seeds 0-2" in seen["text"]


@pytest.mark.parametrize("width", [390, 1280])
def test_the_screen_has_ink_from_edge_to_edge(page, width, tmp_path):
    browser()
    pixels = screenshot(page, width, 1600, tmp_path)
    assert pixels.shape[1] == width
    ink = pixels.min(-1) < 0.5
    # text on the left, and on the right too: the page is as wide as its window
    assert ink[:, : width // 3].mean() > 0.002
    assert ink[:, width // 2 :].mean() > 0.0005
    # the best cells are marked
    marked = np.abs(pixels - np.array([0xE3, 0xF0, 0xFA]) / 255).max(-1) < 0.02
    assert marked.sum() > 500


def test_a_store_of_failures_only_and_one_without_curves(tmp_path):
    (tmp_path / "runs.sqlite").touch()
    store = RunStore(tmp_path / "runs.sqlite")
    with pytest.raises(RequestError, match="store must hold runs"):
        read_material([tmp_path / "runs.sqlite"], tmp_path / "none")
    store.add(Failure(RunSpec("cora", "gcn", "uda", 3), "Error: x"))
    assert "No run has finished." in build_report(read_material([tmp_path / "runs.sqlite"], tmp_path / "none"))
    store.add(record(0.8))
    store.close()
    text = build_report(read_material([tmp_path / "runs.sqlite"], tmp_path / "none"))
    assert "These records carry no curves: " in text
    assert 'id="figures"' not in text


def test_names_of_others_are_words_and_no_part_of_the_page(tmp_path):
    """A user's own graph may lie anywhere."""
    store = RunStore(tmp_path / "runs.sqlite")
    for each in runs([0.8, 0.9], dataset="a<b&c<i>.npz", method="mh-aug", history=curves(chain=True)):
        store.add(each)
    store.add(Failure(RunSpec("a<b&c<i>.npz", "gcn", "uda", 3), "Error: x"))
    store.close()
    text = build_report(read_material([tmp_path / "runs.sqlite"], tmp_path / "none"))
    assert "<h3>a&lt;b&amp;c&lt;i&gt;.npz, gcn</h3>" in text
    assert "<b&c" not in text
    assert "<i>" not in text


def test_several_stores_and_how_to_get_the_curves(tmp_path):
    """A run that is in both is shown with the curves that one of them has."""
    store = RunStore(tmp_path / "runs.sqlite")
    with_curves = record(0.8, method="mh-aug", history=curves(chain=True))
    store.add(with_curves)
    store.export_lines(tmp_path / "runs.jsonl")
    store.close()
    lines, runs_too = tmp_path / "runs.jsonl", tmp_path / "runs.sqlite"
    for stores in ([runs_too, lines], [lines, runs_too]):
        text = build_report(read_material(stores, tmp_path / "none"))
        assert "Chain of mh-aug" in text
        assert "<title>Runs of " + ", ".join(path.name for path in stores) in text
        assert f"--store {stores[0]} --store {stores[1]} --out report.html" in text
    alone = build_report(read_material([lines], tmp_path / "none"))
    assert alone.count("These records carry no curves") == 2  # neither of learning nor of the chains
    assert "mhaug report --store runs.sqlite" in alone


def test_an_old_record_has_the_default_strength():
    named = record(0.8, method="mh-aug", settings={"edge_strength": 0.7}, history=curves(chain=True))
    unnamed = replace(named, settings={"dropout": 0.5})
    assert (strength(named, "edge"), strength(unnamed, "edge"), strength(unnamed, "node")) == (0.7, 0.3, 0.3)
    assert strength(record(0.8, method="uda"), "edge") is None
    row = curves_module._chain_row(table_of([unnamed]).cells[0])
    assert row[3] == "0.3"


def given(words):
    """The settings of a command."""
    return parse_settings([words[place + 1] for place, word in enumerate(words) if word == "--set"])


def test_the_command_makes_the_same_runs_again():
    settings = {"dropout": 0.123, "moves": "flip", "accept": "blocks", "max_updates": 20}
    records = [record(0.8, seed=seed, method="mh-aug", settings=settings) for seed in (0, 1, 2, 5)]
    words = shlex.split(command(records))
    assert RunSpec("cora", "gcn", "mh-aug", settings=given(words)).all_settings() == records[0].settings
    assert parse_seeds(words[words.index("--seeds") + 1]) == [0, 1, 2, 5]


def test_the_command_undoes_presets_that_are_newer_than_the_run(tmp_path, monkeypatch):
    """One that the run had is gone, one that it had is another now, and one that it had not has come."""
    old = {"hidden": 64, "weight_decay": 0.001, "learning_rate": 0.02, "max_updates": 2000, "dropout": 0.5}
    done = replace(record(0.8, method="uda", dataset="digits"), settings=old)
    presets = tmp_path / "mine.toml"
    presets.write_text("[[preset]]\n[preset.settings]\nlearning_rate = 0.5\nlayers = 3\npatience = 9\n")
    monkeypatch.setenv("MHAUG_PRESETS", str(presets))
    words = shlex.split(command([done]))
    assert given(words) == {"weight_decay": 0.001, "learning_rate": 0.02, "layers": 2, "patience": None}
    again = RunSpec("digits", "gcn", "uda", settings=given(words)).all_settings()
    assert every_setting("gcn", "uda", again) == every_setting("gcn", "uda", old)
    assert words[:3] == ["env", f"MHAUG_PRESETS={presets}", "mhaug"]


def test_curves_of_several_seeds_by_hand():
    done = [record(0.8, history={"x": [0.0, 2.0, 9.0]}), record(0.8, seed=1, history={"x": [2.0, 4.0]})]
    curve = series(done, "x")
    assert curve.updates.tolist() == [1, 2]  # up to the end of the shortest
    assert curve.mean.tolist() == [1, 3]
    assert (curve.low.tolist(), curve.high.tolist()) == ([0, 2], [2, 4])
    assert series(done, "y") is None
    long = series([record(0.8, history={"x": list(range(1, 1201))})], "x")
    assert len(long.mean) == 120
    np.testing.assert_allclose(long.mean, long.updates)  # a straight line stays one when it is thinned


def test_pictures_come_with_their_claims_the_papers_first(tmp_path):
    drawing, _ = figure(1, 1, size=(2, 2))
    for name in ("a/other.png", "grid.png", "grid.svg"):
        save(drawing, tmp_path / name)
    claims = [{"claim": "agreement", "value": 0.01, "at_most": 0.05, "holds": True}]
    numbers = {"figure": "grid", "paper": "figure-5", "title": "The chain", "seed": 4, "claims": claims}
    (tmp_path / "grid.json").write_text(json.dumps(numbers))
    (tmp_path / "a" / "other.json").write_text("[1, 2")
    numbers = {**numbers, "figure": "ego-change", "paper": "figure-2", "title": "How"}
    save(drawing, tmp_path / "zero.png")
    (tmp_path / "zero.json").write_text(json.dumps(numbers))
    earlier, first, second = pictures(tmp_path)
    assert earlier.title == "Figure 2: How"  # by the paper's numbers, whatever the files are called
    assert (first.title, first.claims) == ("Figure 5: The chain", ("holds: agreement: 0.01 (at most 0.05)",))
    assert first.command == "mhaug figure grid --out grid.svg --seed 4"
    assert first.uri.startswith("data:image/svg+xml;base64,")
    assert (second.title, second.command) == ("A: other", None)
    with pytest.raises(RequestError, match="figures must be a folder"):
        pictures(tmp_path / "grid.png")
    assert pictures(tmp_path / "nowhere") == []
