"""Records made up for tests: no network was trained for them."""

from mhaug.experiments.record import RunRecord
from mhaug.experiments.spec import RunSpec


def record(test, *, seed=0, validation=0.8, method="vanilla", dataset="cora", backbone="gcn", **more):
    """One run; `settings` are its overrides, `history` its curves."""
    settings = more.pop("settings", {})
    spec = RunSpec(dataset, backbone, method, seed, more.pop("split", "public"), settings)
    numbers = {
        "validation_accuracy": validation, "test_macro_f1": test, "validation_macro_f1": validation,
        "last_test_accuracy": test, "best_update": 7, "updates": 20, "steps": 40, "acceptance_rate": 0.5,
        "seconds": 1.5, "device": "cpu", "versions": {"python": "3.11.0", "mhaug": "0.1.0", "torch": "2.13.0"},
        "history": {},
    }  # fmt: skip
    return RunRecord(spec=spec, settings=spec.all_settings(), test_accuracy=test, **{**numbers, **more})


def runs(tests, **more):
    """One run a seed."""
    return [record(test, seed=seed, **more) for seed, test in enumerate(tests)]


def curves(length=20, *, chain=False):
    """A history as training writes it."""
    rise = [0.5 + 0.3 * update / length for update in range(length)]
    history = {"loss_total": [2.0 - value for value in rise], "loss_supervised": [1.5 - value for value in rise]}
    history |= {"validation_accuracy": rise, "test_accuracy": rise, "acceptance": [0.5] * length}
    if chain:
        history |= {"edge_change": [0.2] * length, "ego_edge_change": [0.3] * length}
    return history
