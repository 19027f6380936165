"""The search: validation alone, the same trials for the same seed, resumable, written down."""

import tomllib
import warnings
from dataclasses import replace

import pytest

from mhaug.checks import RequestError
from mhaug.data.datasets import load_dataset
from mhaug.experiments import run as run_module
from mhaug.experiments.engines.in_process import InProcess
from mhaug.experiments.search_space import search_space, within
from mhaug.experiments.store import Failure
from mhaug.experiments.tune import Search, tune
from mhaug.methods.catalogue import METHODS
from mhaug.methods.preset_file import write_row
from mhaug.methods.presets import preset_settings

pytest.importorskip("optuna", reason="needs the package optuna")
QUICK = {"max_updates": 5}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna calls its own features experimental
        yield


def search(**options):
    return Search("planted-partition", method="uda", seeds=(0, 1), settings=QUICK, **{"trials": 4, **options})


def seen(study):
    return [(trial.params, trial.value) for trial in study.trials]


def test_test_labels_change_nothing(tmp_path, monkeypatch):
    """Every test label is wrong in the second search; it must not differ in a single number."""
    honest = seen(tune(search(), tmp_path / "a.log", InProcess()))

    def corrupted(*arguments, **options):
        task = load_dataset(*arguments, **options)
        wrong = (task.labels + 1) % task.num_classes
        return replace(task, labels=wrong.where(task.split.test, task.labels))

    monkeypatch.setattr(run_module, "load_dataset", corrupted)
    assert seen(tune(search(), tmp_path / "b.log", InProcess())) == honest


def test_a_search_goes_on_where_it_was(tmp_path):
    first = seen(tune(search(trials=2), tmp_path / "study.log", InProcess()))
    both = seen(tune(search(trials=4), tmp_path / "study.log", InProcess()))
    assert both[:2] == first
    assert len(both) == 4
    assert len({str(params) for params, _ in both}) == 4


def test_a_study_is_gone_on_with_as_it_was_begun(tmp_path):
    """Values of other seeds cannot be compared; and what is no journal is not written to."""
    tune(search(trials=1), tmp_path / "study.log", InProcess())
    with pytest.raises(RequestError, match=r"'study' must be gone on with as it was begun, .*'seeds': \[0, 1\]"):
        tune(replace(search(), seeds=(0,)), tmp_path / "study.log", InProcess())
    (tmp_path / "mine.txt").write_text("mine\n")
    with pytest.raises(RequestError, match="'study' must be a journal of `mhaug tune` or a new path"):
        tune(search(), tmp_path / "mine.txt", InProcess())
    assert (tmp_path / "mine.txt").read_text() == "mine\n"


def test_the_first_trial_is_the_preset(tmp_path):
    presets = preset_settings("planted-partition", "gcn", "uda")
    (params, value), *_ = seen(tune(search(trials=1), tmp_path / "study.log", InProcess()))
    assert all(params[name] == value for name, value in within(presets, search_space("gcn", "uda")).items())
    assert value > 0.3


class Unlucky:
    """Fails every run of the second trial."""

    def __init__(self):
        self.calls = 0

    def run(self, specs):
        self.calls += 1
        yield from [Failure(spec, "no") for spec in specs] if self.calls == 2 else InProcess().run(specs)


def test_a_setting_that_broke_a_run_is_never_chosen(tmp_path):
    study = tune(search(trials=3), tmp_path / "study.log", Unlucky())
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "FAIL", "COMPLETE"]
    assert study.best_trial.number != 1
    assert study.trials[1].user_attrs["error"] == "no"


def test_every_method_has_a_space_of_its_own_settings():
    for method in METHODS:
        for backbone in ("gcn", "sage", "gat"):
            assert "dropout" in search_space(backbone, method)


def test_what_was_chosen_is_written_down_once(tmp_path):
    path = tmp_path / "presets.toml"
    path.write_text('# mine\n[[preset]]\nnote = "all"\n[preset.settings]\nhidden = 64\n')
    write_row(path, "cora", "gcn", "uda", {"dropout": 0.8, "moves": "flip"}, "study a, validation 0.80")
    write_row(path, "cora", "gat", "uda", {"dropout": 0.1}, "study b")
    write_row(path, "cora", "gcn", "uda", {"dropout": 0.6}, "study c")
    rows = tomllib.loads(path.read_text())["preset"]
    assert len(rows) == 3
    assert rows[0]["settings"] == {"hidden": 64}
    assert path.read_text().startswith("# mine\n")
    tuned = {tuple(row["backbone"]): row for row in rows[1:]}
    assert tuned["gcn",]["settings"] == {"dropout": 0.6}
    assert tuned["gcn",]["note"] == "tuned: study c"
    assert tuned["gat",]["settings"] == {"dropout": 0.1}
    path.write_text("not = [toml")
    with pytest.raises(RequestError, match="presets must be a TOML file"):
        write_row(path, "cora", "gcn", "uda", {}, "x")
