"""The loop for replicas: the same steps as `training/fit.py`, with decisions as masks instead of branches."""

from collections.abc import Callable
from time import perf_counter

from torch import Tensor

from mhaug.aside import Aside
from mhaug.data.task import NodeTask
from mhaug.methods.method import Learner, Step
from mhaug.per_replica import merged
from mhaug.training.replicas.adam import ReplicaAdam
from mhaug.training.replicas.captured import EAGER_STEPS, captured
from mhaug.training.replicas.notebook import Notebook
from mhaug.training.result import FitConfig, FitResult

TOGETHER = 5  # steps that are captured as one
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
        self._aside = Aside(device)
        self._looked_at: tuple[Step, Tensor] | None = None

    def step(self) -> None:
        """One step of every replica; no decision leaves the device.

        A step is looked at (`predict`, `record`) beside the next one, up to where that one changes the weights.
        """
        step = self.learner.step(1)
        assert step.losses is not None
        gradient = self.adam.gradient(step.losses.total)
        self.settle()
        learns = self.notebook.learning(step, step.losses.total, gradient)
        self.adam.step(gradient, learns)
        self._looked_at = (step, learns)  # kept alive while they are read aside
        with self._aside.work():
            self.notebook.record(step, learns, self.learner.predict(), self.adam.weights)

    def settle(self) -> None:
        """Wait, on the device, until the last step has been looked at."""
        self._aside.join()
        self._looked_at = None

    def run(self, report: Callable[[int], None] | None = None) -> list[FitResult]:
        """To the end of the last replica. `report` gets the updates of the slowest one now and then."""
        started, advance = perf_counter(), self._several_steps
        for _ in range(EAGER_STEPS):
            self.step()
        self.settle()
        if self._on_gpu:
            advance = captured(self._several_steps)
        while not bool(self.notebook.finished().all()):
            for _ in range(LOOK_EVERY // TOGETHER):
                advance()
            if report is not None:
                report(int(self.notebook.state["updates"].min()))
        return self.notebook.results((perf_counter() - started) / self._replicas)

    def _several_steps(self) -> None:
        for _ in range(TOGETHER):
            self.step()
        self.settle()

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
