"""The search: validation alone, the same trials for the same seed, resumable, written down."""

import os
import platform
import tomllib
import warnings
from dataclasses import replace
from datetime import timedelta

import pytest

from experiments.some_records import record
from mhaug import RunSpec
from mhaug.checks import RequestError
from mhaug.data.datasets import load_dataset
from mhaug.experiments import run as run_module
from mhaug.experiments import study as study_module
from mhaug.experiments.engines.in_process import InProcess
from mhaug.experiments.search_space import search_space
from mhaug.experiments.selection import validation_by
from mhaug.experiments.store import Failure
from mhaug.experiments.study import ask, open_study
from mhaug.experiments.tune import Search, tune
from mhaug.methods.catalogue import METHODS
from mhaug.methods.preset_file import write_row
from mhaug.training.plan import every_setting

pytest.importorskip("optuna", reason="needs the package optuna")
QUICK = {"max_updates": 5}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna calls its own features experimental
        yield


def search(**options):
    usual = {"method": "uda", "seeds": (0, 1), "settings": QUICK, "trials": 4}
    return Search("planted-partition", **{**usual, **options})


def seen(study):
    return [(trial.params, trial.value) for trial in study.trials]


@pytest.mark.parametrize("method", ["uda", "mh-aug"])
def test_test_labels_change_nothing(method, tmp_path, monkeypatch):
    """Every test label is wrong in the second search; it must not differ in a single number."""
    mine = search(method=method)
    honest = seen(tune(mine, tmp_path / "a.log", InProcess()))

    def corrupted(*arguments, **options):
        task = load_dataset(*arguments, **options)
        wrong = (task.labels + 1) % task.num_classes
        return replace(task, labels=wrong.where(task.split.test, task.labels))

    monkeypatch.setattr(run_module, "load_dataset", corrupted)
    assert seen(tune(mine, tmp_path / "b.log", InProcess())) == honest


def test_a_search_goes_on_where_it_was(tmp_path):
    first = seen(tune(search(trials=2), tmp_path / "study.log", InProcess()))
    both = seen(tune(search(trials=4), tmp_path / "study.log", InProcess()))
    assert both[:2] == first
    assert len(both) == 4
    assert len({str(params) for params, _ in both}) == 4
    # a stop makes no difference
    assert seen(tune(search(trials=4), tmp_path / "whole.log", InProcess())) == both


def test_a_study_is_gone_on_with_as_it_was_begun(tmp_path):
    """Values of other seeds cannot be compared; and what is no journal is not written to."""
    tune(search(trials=1), tmp_path / "study.log", InProcess())
    with pytest.raises(
        RequestError, match=r"'study' must be gone on with as it was begun, {'seeds': \[0, 1\]}; got {'seeds': \[0\]}"
    ):
        tune(replace(search(), seeds=(0,)), tmp_path / "study.log", InProcess())
    (tmp_path / "mine.txt").write_text("mine\n")
    with pytest.raises(RequestError, match="'study' must be a journal of `mhaug tune` or a new path"):
        tune(search(), tmp_path / "mine.txt", InProcess())
    assert (tmp_path / "mine.txt").read_text() == "mine\n"


class Quick:
    """Trains nothing: every run validates as well as its dropout is low."""

    def __init__(self, before=lambda specs: None):
        self.before, self.specs = before, []

    def run(self, specs):
        self.before(specs)
        self.specs += specs
        for spec in specs:
            yield replace(record(0.5), spec=spec, validation_accuracy=1.0 - spec.all_settings()["dropout"])


def test_the_value_of_a_trial_may_be_smoothed(tmp_path):
    """One update of 0.9 among many of 0.5: the largest is 0.9, the best mean of 50 is 0.5 + 0.4 / 50."""
    curve = [0.5] * 100 + [0.9] + [0.5] * 100

    class Spiky:
        def run(self, specs):
            best, smoothed = (validation_by({"validation_accuracy": curve}, kind) for kind in ("best", "smoothed"))
            for spec in specs:
                made = replace(record(0.5), validation_accuracy=best, smoothed_validation_accuracy=smoothed)
                yield replace(made, spec=spec)

    assert tune(search(trials=1), tmp_path / "a.log", Spiky()).best_value == 0.9
    smooth = search(trials=1, value="smoothed")
    assert tune(smooth, tmp_path / "b.log", Spiky()).best_value == pytest.approx(0.508)
    with pytest.raises(RequestError, match="'study' must be gone on with as it was begun"):
        tune(smooth, tmp_path / "a.log", Spiky())
    with pytest.raises(RequestError, match="'value' must be one of best, smoothed; got 'luck'"):
        search(value="luck")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dataset", ["cora", "photo", "planted-partition"])
def test_the_first_trial_is_the_presets_to_the_last_setting(dataset, method, tmp_path):
    """Also what the presets leave to a default, and what lies outside the space (GraphMix: 16 hidden units)."""
    mine, engine = Search(dataset, method=method, trials=2, seeds=(0,)), Quick()
    tune(mine, tmp_path / "study.log", engine)
    presets, drawn = RunSpec(dataset, "gcn", method), engine.specs[1]
    first = every_setting("gcn", method, engine.specs[0].all_settings())
    assert first == every_setting("gcn", method, presets.all_settings())
    assert first != every_setting("gcn", method, drawn.all_settings())


def test_a_search_that_was_killed_in_its_first_trial_tries_the_presets(tmp_path):
    def killed(specs):
        os._exit(1)

    path = tmp_path / "study.log"
    if (child := os.fork()) == 0:
        tune(search(trials=3), path, Quick(killed))
    os.waitpid(child, 0)
    engine = Quick()
    study = tune(search(trials=3), path, engine)
    assert [trial.state.name for trial in study.trials] == ["FAIL", "COMPLETE", "COMPLETE", "COMPLETE"]
    assert study.trials[1].params == study.trials[0].params == search().preset()
    assert engine.specs[:2] == search().specs(search().preset())


def test_ctrl_c_leaves_no_trial_behind(tmp_path):
    def stopped(specs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tune(search(trials=3), tmp_path / "study.log", Quick(stopped), at_once=2)
    study = tune(search(trials=3), tmp_path / "study.log", Quick())
    assert [trial.state.name for trial in study.trials] == ["FAIL"] * 2 + ["COMPLETE"] * 3
    assert study.trials[2].params == search().preset()


def test_several_programs_share_the_budget_and_one_tries_the_presets(tmp_path):
    """The second begins while the first is at its first two trials: two are left to it."""
    path, others = tmp_path / "study.log", []

    def meanwhile(specs):
        if not others:
            others.append(tune(search(trials=4), path, Quick()))

    study = tune(search(trials=4), path, Quick(meanwhile), at_once=2)
    assert [trial.state.name for trial in others[0].trials] == ["COMPLETE"] * 4
    assert [trial.params for trial in study.trials].count(search().preset()) == 1
    assert len({str(trial.params) for trial in study.trials}) == 4


def test_trials_of_another_machine_are_waited_for_a_day(tmp_path, monkeypatch):
    path = tmp_path / "study.log"
    asked = open_study("x", path, {})
    space, preset = search().space(), search().preset()
    monkeypatch.setattr(platform, "node", lambda: "elsewhere")
    ask(asked, path, space, preset, budget=2, most=1, seed=0)
    monkeypatch.undo()
    assert len(ask(asked, path, space, preset, budget=2, most=5, seed=0)) == 1
    monkeypatch.setattr(study_module, "LONGEST", timedelta(0))
    (anew,) = ask(asked, path, space, preset, budget=2, most=5, seed=0)
    assert anew.params == preset


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
