import pytest

from mhaug.backbones.catalogue import BACKBONES
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
