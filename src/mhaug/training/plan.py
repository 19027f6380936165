"""Names and settings -> the parts of a run. The one place that sorts a flat list of settings into its owners."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from mhaug import checks, rng
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.catalogue import backbone_options, build_backbone, checked_options
from mhaug.data.task import NodeTask
from mhaug.distributed.allowed import check_sampler
from mhaug.distributed.world import World
from mhaug.methods.augmented_method import AugmentedMethod
from mhaug.methods.catalogue import METHODS, build_method, method_options
from mhaug.methods.chain_method import ChainMethod
from mhaug.methods.method import Learner, Method, Problem
from mhaug.minibatch.batching import EVALUATE_EVERY, Batching
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.minibatch.learner import MiniBatchLearner
from mhaug.training.result import FitConfig

OWN_MODULE = "module"  # the name of a backbone that the user brings


@dataclass(frozen=True)
class Plan:
    """A run that is decided but not begun. Wrong settings have been refused by now."""

    backbone: str
    backbone_settings: dict[str, Any]
    method: Method
    config: FitConfig
    batching: Batching = field(default_factory=Batching)

    @classmethod
    def of(cls, backbone: str, method: str, settings: Mapping[str, Any]) -> "Plan":
        """Sort the settings by their names; a name that nobody owns is refused with the list of names."""
        owners = {
            "backbone": _names(backbone),
            "method": set(method_options(method)),
            "training": {field.name for field in fields(FitConfig)},
            "batching": {field.name for field in fields(Batching)},
        }
        allowed = sorted(set().union(*owners.values()))
        for name in settings:
            checks.one_of(name, f"settings of {method} with {backbone}", allowed)
        pick = {owner: {name: settings[name] for name in settings if name in own} for owner, own in owners.items()}
        built, batching = build_method(method, **pick["method"]), Batching(**pick["batching"])
        seldom = {"evaluate_every": EVALUATE_EVERY} if batching.on else {}
        config = FitConfig(**{**seldom, **pick["training"]})
        built.within(config.max_updates)
        if batching.on and not isinstance(built, AugmentedMethod):
            checks.one_of(method, "method in batches", _methods(AugmentedMethod))
        if batching.chain_parts is not None:
            checks.one_of(method, "method with chain_parts", _methods(ChainMethod))
            assert isinstance(built, ChainMethod)
            check_sampler(built.sampler())
        network = {} if backbone == OWN_MODULE else checked_options(backbone, pick["backbone"])
        return cls(backbone, network, built, config, batching)

    def settings(self) -> dict[str, Any]:
        """Every setting by name, also those that nobody gave: what `of` makes this very plan from."""
        owners = (self.method, self.config, self.batching)
        values = {each.name: getattr(owner, each.name) for owner in owners for each in fields(owner)}  # type: ignore[arg-type]
        return {**self.backbone_settings, **values}

    def network(self, in_features: int, num_classes: int, *, seed: int) -> Backbone:
        """A fresh network; `seed` alone decides its weights."""
        options = {**self.backbone_settings, "rng": rng.stream(seed, "weights")}
        return build_backbone(self.backbone, in_features, num_classes, **options)

    def begin_in_batches(
        self, task: NodeTask, graph: LargeGraph, network: Backbone, *, seed: int, world: World | None = None
    ) -> Learner:
        """The method at work on batches, which are dealt out to the ranks; chain and dropout as in `begin`."""
        assert isinstance(self.method, AugmentedMethod)
        world = world or World.alone()
        rng.seed_global(rng.seed_of_rank(seed, world.rank), "dropout")
        return MiniBatchLearner(task, graph, network, self.method, self.batching, seed=seed, world=world)

    def begin(self, problem: Problem, network: Backbone, *, seed: int, rank: int = 0) -> Learner:
        """The method at work; torch's global generator, which dropout draws from, is seeded here.

        Each rank of a job has draws of its own: its own chain, its own dropout. A graph that is changed for good is
        changed by draws that all ranks share.
        """
        own = rng.seed_of_rank(seed, rank)
        rng.seed_global(own, "dropout")
        method = self.method.within(self.config.max_updates)
        return method.begin(problem, network, seed=seed if method.shared_draws else own)


def every_setting(backbone: str, method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """These settings, and the defaults of all others. Names that nobody owns stay: they may be of another version."""
    # in batches some defaults are others
    decides = {name: settings[name] for name in ("batch_size",) if name in settings}
    return {**Plan.of(backbone, method, decides).settings(), **settings}


def known_settings(backbone: str, method: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Only those that this backbone and method own: what is left of presets for a user's own module."""
    own = _names(backbone) | set(method_options(method))
    own |= {field.name for kind in (FitConfig, Batching) for field in fields(kind)}
    return {name: value for name, value in settings.items() if name in own}


def _methods(kind: type) -> list[str]:
    """Names of the methods of this kind."""
    return [name for name, each in METHODS.items() if isinstance(each, type) and issubclass(each, kind)]


def _names(backbone: str) -> set[str]:
    return set() if backbone == OWN_MODULE else set(backbone_options(backbone)) - {"rng"}
