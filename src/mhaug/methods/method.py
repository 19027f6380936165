"""What a method is: hyper-parameters that can begin a run, and the run itself, one step at a time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from torch import Tensor, nn

from mhaug.backbones.backbone import Backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.data.task import NodeTask
from mhaug.objectives.objective import Losses
from mhaug.per_replica import PerReplica


@dataclass(frozen=True, eq=False)
class Problem:
    """A task, and its graph as the backbones read it, on one device.

    Replicas share the graph and the labels; where their splits differ, `train` has a row for each.
    """

    task: NodeTask
    graph: GraphInput
    train: Tensor  # bool [V] or [R, V]

    @classmethod
    def of(cls, task: NodeTask) -> "Problem":
        """Prepare the graph once for all steps."""
        return cls(task, GraphInput.from_data(task.graph), task.split.train)

    @property
    def labels(self) -> Tensor:
        """Class of each node, [V]; a method may look at those of `train` only."""
        return self.task.labels


@dataclass(frozen=True, eq=False)
class Step:
    """What one step found. `losses` is None where there is nothing to learn, as after a rejected candidate.

    With replicas every number is a tensor [R], and `learns` says who learns from this step. `fresh`: the weights have
    been drawn anew, and the optimiser has to forget what it knows of the old ones. `shared`: all ranks drew the
    candidates together, and each of them reports the same ones.
    """

    losses: Losses | None
    proposals: int = 1  # candidates drawn
    accepted: int | Tensor = 1
    info: Mapping[str, PerReplica] = field(default_factory=dict)
    learns: Tensor | None = None
    fresh: bool = False
    shared: bool = False


class Learner(Protocol):
    """A method at work on one problem with one network. Knows nothing of optimisers, stopping or files."""

    @property
    def model(self) -> nn.Module:
        """What is trained: the backbone, and whatever the method adds to it."""
        ...

    def step(self, max_proposals: int) -> Step:
        """The losses of the next update. Draws at most `max_proposals` candidates."""
        ...

    def predict(self) -> Tensor:
        """Logits [V, C] ([R, V, C] for replicas) without dropout, on the graph that this method predicts on."""
        ...

    def state_dict(self) -> dict[str, Tensor]:
        """All that a resumed run needs beside the weights."""
        ...

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on exactly where `state_dict` was taken."""
        ...


class Method(Protocol):
    """One row of Table 1: a frozen dataclass whose fields are its hyper-parameters."""

    @property
    def side_by_side(self) -> bool:
        """Whether `begin` can take a stack of networks, and learn from tensors of numbers (`stacking.py`)."""
        ...

    @property
    def shared_draws(self) -> bool:
        """Whether ranks of one job draw alike, as they must where the method changes the graph of all."""
        return False

    def within(self, max_updates: int) -> "Method":
        """The method as it is in a run of so many updates: itself, unless it says otherwise or refuses."""
        return self

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> Learner:
        """Start on a problem; every random draw of the method comes from `seed`."""
        ...

    def kept(self, learner: Learner, graph: GraphInput) -> dict[str, Tensor]:
        """What predictions need beside the weights after training on `graph`; it is saved with them.

        Nothing, unless a method says otherwise; one that does goes alone, not `side_by_side`.
        """
        return {}

    def predict(self, network: Backbone, graph: GraphInput, kept: Mapping[str, Tensor]) -> Tensor:
        """Logits [V, C] of a trained network in evaluation on any graph: its own, unless a method says otherwise."""
        return network(graph)
