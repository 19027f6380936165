"""The loop for replicas: the same steps as `training/fit.py`, with decisions as masks instead of branches."""

from collections.abc import Callable
from time import perf_counter

from torch import Tensor

from mhaug.data.task import NodeTask
from mhaug.methods.method import Learner
from mhaug.per_replica import merged
from mhaug.training.replicas.adam import ReplicaAdam
from mhaug.training.replicas.captured import EAGER_STEPS, captured
from mhaug.training.replicas.notebook import Notebook
from mhaug.training.result import FitConfig, FitResult

LOOK_EVERY = 50  # steps between two looks at who has finished: each look waits for the device


class ReplicaFit:
    """R fits that go on together. All that changes lives in fixed tensors, so that a step can be captured."""

    def __init__(self, tasks: list[NodeTask], learner: Learner, configs: list[FitConfig]) -> None:
        device = tasks[0].labels.device
        rates = {
            name: merged([getattr(config, name) for config in configs], device=device)
            for name in ("learning_rate", "weight_decay")
        }
        self.learner = learner
        self.adam = ReplicaAdam(learner.model, **rates)
        self.notebook = Notebook(tasks, configs, self.adam.weights)
        self._replicas, self._on_gpu = len(tasks), device.type == "cuda"

    def step(self) -> None:
        """One step of every replica; no decision leaves the device."""
        step = self.learner.step(1)
        assert step.losses is not None
        gradient = self.adam.gradient(step.losses.total)
        learns = self.notebook.learning(step, step.losses.total, gradient)
        self.adam.step(gradient, learns)
        self.notebook.record(step, learns, self.learner.predict(), self.adam.weights)

    def run(self, report: Callable[[int], None] | None = None) -> list[FitResult]:
        """To the end of the last replica. `report` gets the updates of the slowest one now and then."""
        started, advance = perf_counter(), self.step
        for _ in range(EAGER_STEPS):
            advance()
        if self._on_gpu:
            advance = captured(self.step)
        while not bool(self.notebook.finished().all()):
            for _ in range(LOOK_EVERY):
                advance()
            if report is not None:
                report(int(self.notebook.state["updates"].min()))
        return self.notebook.results((perf_counter() - started) / self._replicas)

    def tensors(self) -> dict[str, Tensor]:
        """All that changes, by name: what a checkpoint holds."""
        parts = {"adam": self.adam.state, "notebook": self.notebook.state, "method": self.learner.state_dict()}
        named = {f"{part}.{name}": value for part, state in parts.items() for name, value in state.items()}
        return {"weights": self.adam.weights, **named}

    def best_weights(self, index: int) -> dict[str, Tensor]:
        """The state dict of one replica's network at its best update."""
        rows, found = self.notebook.state["best_weights"][index], {}
        for name, parameter in self.learner.model.named_parameters():
            part, rows = rows[: parameter[0].numel()], rows[parameter[0].numel() :]
            found[name] = part.view(parameter.shape[1:]).clone()
        return found
