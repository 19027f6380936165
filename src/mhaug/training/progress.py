"""Where a fit stands: counters, the best so far, the history."""

import json
import math
from dataclasses import asdict, dataclass, field

import torch
from torch import Tensor

from mhaug.data.task import NodeTask
from mhaug.methods.method import Step
from mhaug.training.evaluation import accuracies, macro_f1, validation_loss
from mhaug.training.result import FitResult

Weights = dict[str, Tensor]
COUNTERS = ("updates", "steps", "spent", "accepted", "seconds")
SCORES = ("train_accuracy", "validation_accuracy", "test_accuracy", "validation_loss")


@dataclass
class Best:
    """The first update of best validation accuracy."""

    validation: float = -math.inf
    test: float = math.nan
    validation_f1: float = math.nan
    test_f1: float = math.nan
    update: int = 0


@dataclass
class Progress:
    """Mutable on purpose: the loop's own notebook."""

    updates: int = 0
    steps: int = 0
    spent: float = 0.0  # candidates a rank, over as many ranks as there were: what counts against the budget
    accepted: int = 0
    seconds: float = 0.0
    best: Best = field(default_factory=Best)
    best_weights: Weights = field(default_factory=dict)
    history: dict[str, list[float]] = field(default_factory=dict)

    def count(self, step: Step, ranks: int) -> None:
        """Note the candidates of one step of all ranks together."""
        self.steps += step.proposals
        # a candidate that ranks draw together is one for each of them
        self.spent += step.proposals / (1 if step.shared else ranks)
        self.accepted += int(step.accepted)

    def record(self, step: Step, losses: dict[str, float], logits: Tensor | None, task: NodeTask) -> bool:
        """Note one update; whether it is the best so far. Without `logits` the last scores are noted again."""
        self.updates += 1
        if logits is None:
            self._note(step, losses, {name: self.history[name][-1] for name in SCORES})
            return False
        scores = accuracies(logits, task)
        # an empty validation set cannot choose: the last update is taken
        better = math.isnan(scores.validation) or scores.validation > self.best.validation
        if better:
            self.best = Best(
                validation=scores.validation,
                test=scores.test,
                validation_f1=macro_f1(logits, task.labels, task.split.validation),
                test_f1=macro_f1(logits, task.labels, task.split.test),
                update=self.updates,
            )
        shares = {f"{name}_accuracy": value for name, value in asdict(scores).items()}
        self._note(step, losses, {**shares, "validation_loss": validation_loss(logits, task)})
        return better

    def _note(self, step: Step, losses: dict[str, float], scores: dict[str, float]) -> None:
        row = {f"loss_{name}": value for name, value in losses.items()}
        row |= scores
        row |= {"acceptance": self.accepted / self.steps, "steps": float(self.steps)}
        row |= {name: float(value) for name, value in step.info.items()}
        for name, value in row.items():
            self.history.setdefault(name, []).append(value)

    def result(self) -> FitResult:
        """What was reached so far."""
        return FitResult(
            validation_accuracy=self.best.validation,
            test_accuracy=self.best.test,
            validation_macro_f1=self.best.validation_f1,
            test_macro_f1=self.best.test_f1,
            best_update=self.best.update,
            last_test_accuracy=self.history["test_accuracy"][-1] if self.updates else math.nan,
            updates=self.updates,
            steps=self.steps,
            acceptance_rate=self.accepted / max(self.steps, 1),
            seconds=self.seconds,
            history=self.history,
        )

    def tensors(self) -> Weights:
        """The history and the best weights, for a checkpoint."""
        history = {f"history.{name}": torch.tensor(row, dtype=torch.float64) for name, row in self.history.items()}
        return {**history, **{f"best.{name}": value for name, value in self.best_weights.items()}}

    def numbers(self) -> str:
        """The counters, as JSON."""
        counters = {name: getattr(self, name) for name in COUNTERS}
        return json.dumps({**counters, "best": asdict(self.best)})

    @classmethod
    def restore(cls, numbers: str, tensors: Weights) -> "Progress":
        """What `numbers` and `tensors` came from."""
        fields = json.loads(numbers)
        fields.setdefault("spent", fields["steps"])  # a file of before it was counted
        history = {
            name.removeprefix("history."): row.tolist()
            for name, row in tensors.items()
            if name.startswith("history.")
        }
        weights = {name.removeprefix("best."): row for name, row in tensors.items() if name.startswith("best.")}
        return cls(**{**fields, "best": Best(**fields["best"])}, best_weights=weights, history=history)
