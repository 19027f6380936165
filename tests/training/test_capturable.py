"""What a CUDA graph asks of a step, held without a GPU: the host reads no number, and each step is like the last.

Operations are watched on the CPU, without its compiled loops: what is left is what a GPU runs, but for its own
products and kernels.
"""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from methods.problems import planted_task
from mhaug.backbones import dropout, fused
from mhaug.methods.catalogue import METHODS, build_method
from mhaug.training.plan import Plan
from mhaug.training.replicas.captured import EAGER_STEPS
from mhaug.training.replicas.group import begin_together

STACKED = [name for name in METHODS if build_method(name).side_by_side]
# a number comes to the host, or a shape depends on values
WAITS = {"_local_scalar_dense", "nonzero", "masked_select", "_unique2", "unique_dim", "equal", "is_nonzero"}
# a tensor made of Python numbers is copied from memory that the next replay would not read again
FROM_HOST = {"lift_fresh"}


class Watch(TorchDispatchMode):
    """Names, and shapes of what comes out."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        outputs = made if isinstance(made, tuple | list) else [made]
        shapes = tuple(tuple(each.shape) for each in outputs if isinstance(each, torch.Tensor))
        self.seen.append((function.overloadpacket.__name__, shapes))
        return made


def watched(fitting):
    with Watch() as watch:
        fitting.step()
        fitting.settle()
    return watch.seen


def begun(method, backbone="gcn", **settings):
    plans = [Plan.of(backbone, method, {"hidden": 16, "max_updates": 30, **settings})] * 3
    return begin_together([planted_task()] * 3, plans, [0, 1, 2])


@pytest.fixture
def _without_compiled_loops(monkeypatch):
    monkeypatch.setattr(dropout, "_has_numba", lambda: False)
    monkeypatch.setattr(fused, "_has", lambda package: False)


@pytest.mark.usefixtures("_without_compiled_loops")
@pytest.mark.parametrize(
    ("method", "backbone", "settings"),
    [
        *((method, backbone, {}) for method in STACKED for backbone in ("gcn", "sage", "gat")),
        ("mh-aug", "gcn", {"weight_averaging": 0.9}),
    ],
)
def test_a_step_waits_for_nobody_and_is_like_the_next(method, backbone, settings):
    fitting = begun(method, backbone, **settings)
    for _ in range(EAGER_STEPS):
        fitting.step()
    fitting.settle()
    first, second = watched(fitting), watched(fitting)
    names = {name for name, _ in first}
    assert not names & WAITS
    assert not names & FROM_HOST
    assert first == second
    assert len(first) > 100  # it has been watched at all


def test_the_watch_sees_what_it_should():
    values = torch.tensor([1.0, 2.0])
    with Watch() as watch:
        bool(values.sum() > 0)
        values[values > 1]
        torch.tensor([3.0])
    names = {name for name, _ in watch.seen}
    assert {"_local_scalar_dense", "lift_fresh"} <= names
    assert names & WAITS >= {"_local_scalar_dense"}
