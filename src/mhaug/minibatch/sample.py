"""A sample of the augmenter: the views that batches are cut from until it moves on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from mhaug.augmentation.augmenter import Proposal
from mhaug.data.view import View


@dataclass
class Sample:
    """The pair of views that batches are cut from, and how many have been."""

    views: dict[str, View]
    info: Mapping[str, float] = field(default_factory=dict)
    batches: int = 0

    @classmethod
    def of(cls, proposal: Proposal, original: View) -> "Sample":
        """A fresh one."""
        info = {name: float(value) for name, value in proposal.info.items()}
        return cls({"previous": proposal.previous, "current": proposal.current, "original": original}, info)

    def saved(self, views: Iterable[str]) -> dict[str, Tensor]:
        """As tensors, with those of the views that are named; the count of batches is the learner's to save."""
        saved = {f"info.{name}": torch.tensor(number, dtype=torch.float64) for name, number in self.info.items()}
        for name in {"previous", "current"} & set(views):
            for part in ("edge_kept", "node_scale"):
                mask = getattr(self.views[name], part)
                saved |= {} if mask is None else {f"view.{name}.{part}": mask}
        return saved

    @classmethod
    def restored(cls, saved: Mapping[str, Tensor], original: View, batches: int) -> "Sample":
        """What `saved` was made from."""
        masks = {name: under(f"view.{name}.", saved) for name in ("previous", "current")}
        views = {name: View(own.get("edge_kept"), own.get("node_scale")) for name, own in masks.items()}
        info = {name: float(number) for name, number in under("info.", saved).items()}
        return cls({**views, "original": original}, info, batches)


def under(prefix: str, saved: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Those whose names begin so, without the beginning."""
    return {name.removeprefix(prefix): value for name, value in saved.items() if name.startswith(prefix)}
