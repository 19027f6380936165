import pytest

from mhaug.backbones.catalogue import BACKBONES
from mhaug.methods.catalogue import METHODS
from mhaug.training.defaults import default_settings, every_setting
from mhaug.training.plan import Plan


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("backbone", BACKBONES)
def test_naming_the_defaults_changes_nothing(backbone, method):
    named, unnamed = Plan.of(backbone, method, default_settings(backbone, method)), Plan.of(backbone, method, {})
    assert (named.method, named.config, named.batching) == (unnamed.method, unnamed.config, unnamed.batching)
    assert set(named.backbone_settings) >= {"hidden", "dropout"}


def test_settings_go_over_defaults():
    whole = every_setting("gcn", "mh-aug", {"edge_strength": 0.7})
    assert (whole["edge_strength"], whole["node_strength"], whole["max_updates"]) == (0.7, 0.3, 2000)
