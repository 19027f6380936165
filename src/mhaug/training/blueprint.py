"""What a classifier is before any graph: names, seed and settings; and what becomes of them on a graph."""

from dataclasses import dataclass
from typing import Any

from torch import nn

from mhaug import checks
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.catalogue import BACKBONES
from mhaug.backbones.pyg_module import PyGModule
from mhaug.methods.presets import preset_settings
from mhaug.training.plan import OWN_MODULE, Plan, known_settings


@dataclass(frozen=True)
class Blueprint:
    """Settings that are not given come from the presets of the dataset, by its name."""

    method: str
    backbone: str | nn.Module
    seed: int
    given: dict[str, Any]

    def __post_init__(self) -> None:
        rule = f"one of {', '.join(BACKBONES)}, or a module of your own (Net(), not its class Net)"
        checks.require(isinstance(self.backbone, str | nn.Module), "backbone", rule, self.backbone)

    @property
    def backbone_name(self) -> str:
        """In presets and files."""
        return self.backbone if isinstance(self.backbone, str) else OWN_MODULE

    def settings(self, dataset: str) -> dict[str, Any]:
        """All of them."""
        name = self.backbone_name
        return {**known_settings(name, self.method, preset_settings(dataset, name, self.method)), **self.given}

    def plan(self, dataset: str) -> Plan:
        """Checked."""
        return Plan.of(self.backbone_name, self.method, self.settings(dataset))

    def network(self, plan: Plan, in_features: int, num_classes: int) -> Backbone:
        """A fresh one; round the user's own module, where there is one."""
        if isinstance(self.backbone, nn.Module):
            return PyGModule(self.backbone, num_classes=num_classes)
        return plan.network(in_features, num_classes, seed=self.seed)
