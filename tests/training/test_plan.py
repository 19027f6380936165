import pytest
import torch

from mhaug.checks import RequestError
from mhaug.training.plan import OWN_MODULE, Plan, every_setting, known_settings


def test_settings_find_their_owners():
    plan = Plan.of("gat", "mh-aug", {"heads": 4, "edge_strength": 0.1, "learning_rate": 0.2, "hidden": 8})
    assert plan.backbone_settings.items() >= {"heads": 4, "hidden": 8, "layers": 2}.items()
    assert "edge_strength" not in plan.backbone_settings
    assert plan.method.edge_strength == 0.1
    assert plan.config.learning_rate == 0.2


def test_a_name_that_nobody_owns_is_refused_with_the_list():
    with pytest.raises(
        RequestError, match=r"'settings of vanilla with gcn' must be one of batch_size, .*dropout.*; got 'heads'"
    ):
        Plan.of("gcn", "vanilla", {"heads": 4})


def test_the_seed_alone_decides_the_weights():
    plan = Plan.of("gcn", "vanilla", {"hidden": 4})
    first, again, other = (plan.network(5, 2, seed=seed) for seed in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not torch.equal(next(first.parameters()), next(other.parameters()))


def test_presets_for_a_module_of_the_users_own():
    assert known_settings(OWN_MODULE, "vanilla", {"hidden": 64, "learning_rate": 0.1}) == {"learning_rate": 0.1}


def test_settings_make_the_very_plan():
    for backbone, method in (("gcn", "mh-aug"), ("gat", "grand"), ("sage", "ada-edge")):
        plan = Plan.of(backbone, method, {"hidden": 8, "max_updates": 3})
        assert Plan.of(backbone, method, plan.settings()) == plan
        assert {"hidden": 8, "max_updates": 3, "layers": 2, "batch_size": None}.items() <= plan.settings().items()


def test_settings_go_over_defaults():
    whole = every_setting("gcn", "mh-aug", {"edge_strength": 0.7, "of another version": 1})
    assert (whole["edge_strength"], whole["node_strength"], whole["max_updates"]) == (0.7, 0.3, 2000)
    assert whole["of another version"] == 1
