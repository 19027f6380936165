"""What an augmenter is: something that proposes the next view of a graph, and may turn it down."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor

from mhaug.data.view import View
from mhaug.per_replica import PerReplica


@dataclass(frozen=True, eq=False)
class Proposal:
    """One step of an augmenter: G^(t), the sample that follows it, and whether the chain moved there.

    After a rejection `current` is `previous` again. With replicas, masks and numbers have a leading replica axis.
    """

    previous: View
    current: View
    accepted: bool | Tensor
    # change ratios and whatever else a reader wants to see
    info: Mapping[str, PerReplica] = field(default_factory=dict)


class Augmenter(Protocol):
    """A sequence of views of one graph. One that draws afresh always accepts; one that never moves stays."""

    @property
    def needs_entropy(self) -> bool:
        """Whether `propose` reads the entropy of the predictions."""
        ...

    def prepare(self) -> None:
        """Begin what needs no entropy; `propose` comes next. For augmenters of replicas, which can work aside."""
        return None  # a body, lest it be taken for abstract

    def propose(self, entropy: Tensor | None) -> Proposal:
        """Propose, accept or reject, and move. `entropy` is ε [V]."""
        ...

    def state_dict(self) -> dict[str, Tensor]:
        """All that a resumed run needs."""
        ...

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on exactly where `state_dict` was taken."""
        ...
