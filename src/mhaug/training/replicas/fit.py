"""The loop for replicas: the same steps as `training/fit.py`, with decisions as masks instead of branches."""

from collections.abc import Callable
from time import perf_counter

from torch import Tensor

from mhaug.aside import Aside
from mhaug.data.task import NodeTask
from mhaug.methods.method import Learner, Step
from mhaug.per_replica import is_on, merged
from mhaug.training.replicas.adam import ReplicaAdam
from mhaug.training.replicas.averaging import ReplicaAveraging
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
            for name in ("learning_rate", "weight_decay", "weight_averaging")
        }
        decay = rates.pop("weight_averaging")
        self.learner = learner
        self.adam = ReplicaAdam(learner.model, **rates)
        self.mean = ReplicaAveraging(self.adam.weights, decay) if is_on(decay) else None
        self.notebook = Notebook(tasks, configs, self.adam.weights)
        self._replicas, self._on_gpu = len(tasks), device.type == "cuda"
        self._aside = Aside(device)
        self._looked_at: tuple[Step, Tensor] | None = None
        self.seconds = 0.0
        self.results: list[FitResult] = []  # what each replica reached, with its share of the time

    def step(self) -> None:
        """One step of every replica; no decision leaves the device.

        A step is looked at (`predict`, `record`) beside the next one, up to where that one changes the weights; at
        once where the mean weights have to be put in their place for it.
        """
        step = self.learner.step(1)
        assert step.losses is not None
        gradient, reached = self.adam.gradient(step.losses)
        self.settle()
        learns = self.notebook.learning(step, step.losses.total, gradient)
        self.adam.step(gradient, learns, reached)
        if self.mean is not None:
            self.mean.update(learns)
            with self.mean.in_place():
                self.notebook.record(step, learns, self.learner.predict(), self.adam.weights)
            return
        self._looked_at = (step, learns)  # kept alive while they are read aside
        with self._aside.work():
            self.notebook.record(step, learns, self.learner.predict(), self.adam.weights)

    def settle(self) -> None:
        """Wait, on the device, until the last step has been looked at."""
        self._aside.join()
        self._looked_at = None

    def run(self, look: Callable[["ReplicaFit"], None] | None = None) -> list[FitResult]:
        """To the end of the last replica. Now and then everything stands still and `look` is called."""
        started, advance = perf_counter() - self.seconds, self._several_steps
        for _ in range(EAGER_STEPS):
            self.step()
        self.settle()
        if self._on_gpu:
            advance = captured(self._several_steps)
        while not bool(self.notebook.finished().all()):
            for _ in range(LOOK_EVERY // TOGETHER):
                advance()
            self.seconds = perf_counter() - started
            if look is not None:
                look(self)
        self.seconds = perf_counter() - started
        self.results = self.notebook.results(self.seconds / self._replicas)
        return self.results

    def failed(self) -> list[bool]:
        """Who met a loss or a gradient that is not finite."""
        found: list[bool] = self.notebook.state["failed"].tolist()
        return found

    def updates(self) -> int:
        """Of the slowest replica."""
        return int(self.notebook.state["updates"].min())

    def _several_steps(self) -> None:
        for _ in range(TOGETHER):
            self.step()
        self.settle()

    def tensors(self) -> dict[str, Tensor]:
        """All that changes, by name: what a checkpoint holds."""
        parts = {"adam": self.adam.state, "notebook": self.notebook.state, "method": self.learner.state_dict()}
        parts |= {} if self.mean is None else {"mean": self.mean.state}
        named = {f"{part}.{name}": value for part, state in parts.items() for name, value in state.items()}
        return {"weights": self.adam.weights, **named}

    def load(self, tensors: dict[str, Tensor], columns: list[str], seconds: float) -> None:
        """Go on exactly where `tensors` were taken."""
        device = self.adam.weights.device
        tensors = {name: value.to(device) for name, value in tensors.items()}
        self.adam.weights.copy_(tensors["weights"])
        self.notebook.begin_history(columns, tensors["notebook.history"])
        states = {"adam": self.adam.state, "notebook": self.notebook.state}
        for part, state in (states | ({} if self.mean is None else {"mean": self.mean.state})).items():
            for name, value in state.items():
                value.copy_(tensors[f"{part}.{name}"])
        prefix = "method."
        method = {name.removeprefix(prefix): v for name, v in tensors.items() if name.startswith(prefix)}
        self.learner.load_state_dict(method)
        self.seconds = seconds

    def best_weights(self, index: int) -> dict[str, Tensor]:
        """The state dict of one replica's network at its best update."""
        rows, found = self.notebook.state["best_weights"][index], {}
        for name, parameter in self.learner.model.named_parameters():
            part, rows = rows[: parameter[0].numel()], rows[parameter[0].numel() :]
            found[name] = part.view(parameter.shape[1:]).clone()
        return found
