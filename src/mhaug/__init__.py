"""Augmented graphs from an explicit distribution, by Metropolis-Hastings, for GNNs with few labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mhaug.augmentation.transform import MetropolisDrop as MetropolisDrop
    from mhaug.data.datasets import load_dataset as load_dataset
    from mhaug.data.task import NodeTask as NodeTask
    from mhaug.data.task import Split as Split
    from mhaug.estimator import NodeClassifier as NodeClassifier
    from mhaug.experiments.record import RunRecord as RunRecord
    from mhaug.experiments.run import run as run
    from mhaug.experiments.spec import RunSpec as RunSpec
    from mhaug.sampling.aim import aim as aim
    from mhaug.sampling.sampler import MHAug as MHAug
    from mhaug.sampling.target import EgoTerm as EgoTerm
    from mhaug.sampling.terms import KeepDegrees as KeepDegrees
    from mhaug.sampling.trace import Trace as Trace

# Public name -> the file that holds it. Looked up on first use, so that `import mhaug` costs nothing and works
# where an optional package is missing.
_HOME = {
    "EgoTerm": "mhaug.sampling.target",
    "KeepDegrees": "mhaug.sampling.terms",
    "MHAug": "mhaug.sampling.sampler",
    "MetropolisDrop": "mhaug.augmentation.transform",
    "NodeClassifier": "mhaug.estimator",
    "NodeTask": "mhaug.data.task",
    "RunRecord": "mhaug.experiments.record",
    "RunSpec": "mhaug.experiments.spec",
    "Split": "mhaug.data.task",
    "Trace": "mhaug.sampling.trace",
    "aim": "mhaug.sampling.aim",
    "load_dataset": "mhaug.data.datasets",
    "run": "mhaug.experiments.run",
}

__all__ = [
    "EgoTerm",
    "KeepDegrees",
    "MHAug",
    "MetropolisDrop",
    "NodeClassifier",
    "NodeTask",
    "RunRecord",
    "RunSpec",
    "Split",
    "Trace",
    "aim",
    "load_dataset",
    "run",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'mhaug' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
