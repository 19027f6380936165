import pytest

from mhaug.backbones.catalogue import BACKBONES
from mhaug.checks import RequestError
from mhaug.data.datasets import DATASETS
from mhaug.methods.catalogue import METHODS
from mhaug.methods.presets import _rows, preset_settings
from mhaug.training.plan import Plan


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("backbone", BACKBONES)
@pytest.mark.parametrize("dataset", [*DATASETS, "someone's own"])
def test_every_cell_has_settings_that_are_understood(dataset, backbone, method):
    plan = Plan.of(backbone, method, preset_settings(dataset, backbone, method))
    assert plan.config.max_updates == 2000


def test_later_rows_win():
    assert preset_settings("cs", "gcn", "vanilla")["weight_decay"] == 5e-4
    assert preset_settings("photo", "gcn", "vanilla")["weight_decay"] == 0.0


def test_rows_name_what_exists_and_say_where_they_come_from():
    for row in _rows():
        assert set(row.dataset) <= set(DATASETS)
        assert set(row.backbone) <= set(BACKBONES)
        assert set(row.method) <= set(METHODS)
        assert row.note


def test_a_file_of_ones_own_comes_after_ours(tmp_path, monkeypatch):
    path = tmp_path / "mine.toml"
    row = '[[preset]]\ndataset = ["photo"]\nmethod = ["uda"]\n[preset.settings]\nweight_decay = 0.1\n'
    path.write_text(row)
    before = preset_settings("photo", "gcn", "uda")
    monkeypatch.setenv("MHAUG_PRESETS", str(path))
    assert preset_settings("photo", "gcn", "uda") == {**before, "weight_decay": 0.1}
    assert preset_settings("photo", "gcn", "vanilla")["weight_decay"] == 0.0
    # a file that changes is read again
    path.write_text(row.replace("0.1", "0.25"))
    assert preset_settings("photo", "gcn", "uda")["weight_decay"] == 0.25


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "MHAUG_PRESETS must name a presets file; got "),
        ("not = [toml", "presets must be a TOML file; got "),
        ("preset = 3", r"'presets' must be made of tables \[\[preset\]\]; got "),
        (
            '[[preset]]\nmethods = ["uda"]',
            "'names in a row of presets' must be one of dataset, backbone, method, note",
        ),
        ('[[preset]]\nmethod = "uda"', "'method of a preset' must be a list of names; got 'uda'"),
        ('[[preset]]\nmethod = ["uda"]', r"'settings of a preset' must be a table \[preset.settings\]; got None"),
    ],
)
def test_a_wrong_file_is_refused(text, words, tmp_path, monkeypatch):
    path = tmp_path / "mine.toml"
    if text is not None:
        path.write_text(text)
    monkeypatch.setenv("MHAUG_PRESETS", str(path))
    with pytest.raises(RequestError, match=words):
        preset_settings("cora", "gcn", "uda")
