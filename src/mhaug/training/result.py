"""What a fit is told, and what it gives back."""

from dataclasses import dataclass

from mhaug import checks
from mhaug.objectives.non_finite import NonFiniteLossError as NonFiniteLossError

MOST_AVERAGING = 0.9999  # ten thousand updates; with 1 the first one would be kept for ever


@dataclass(frozen=True)
class FitConfig:
    """How long and how fast. `max_steps` counts candidates drawn, `max_updates` updates of the weights.

    Each rank of a job may draw `max_steps`; None allows ten candidates an update. `patience` stops after so many
    updates without a better validation accuracy (None: never). Every `evaluate_every`-th update is evaluated, and the
    first and the last. With `weight_averaging` above 0 a running mean of the weights is what is evaluated and kept.
    """

    max_updates: int = 2000
    max_steps: int | None = None
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    patience: int | None = None
    evaluate_every: int = 1
    weight_averaging: float = 0.0

    def __post_init__(self) -> None:
        checks.whole_number(self.max_updates, "max_updates", 1)
        if self.max_steps is not None:
            checks.whole_number(self.max_steps, "max_steps", 1)
        checks.number_in(self.learning_rate, "learning_rate", 0.0, open_low=True)
        checks.number_in(self.weight_decay, "weight_decay", 0.0)
        if self.patience is not None:
            checks.whole_number(self.patience, "patience", 1)
        checks.whole_number(self.evaluate_every, "evaluate_every", 1)
        checks.number_in(self.weight_averaging, "weight_averaging", 0.0, MOST_AVERAGING)

    @property
    def step_budget(self) -> int:
        """Candidates that may be drawn."""
        return self.max_steps if self.max_steps is not None else 10 * self.max_updates

    def evaluates(self, update: int) -> bool:
        """Whether this update, counted from 1, is evaluated."""
        return update % self.evaluate_every == 0 or update in (1, self.max_updates)


@dataclass(frozen=True)
class FitResult:
    """Numbers at the first update of best validation accuracy; of the last update where nothing validates."""

    validation_accuracy: float
    test_accuracy: float
    validation_macro_f1: float
    test_macro_f1: float
    best_update: int
    last_test_accuracy: float
    updates: int
    steps: int
    acceptance_rate: float
    seconds: float
    history: dict[str, list[float]]  # one number an update: losses, accuracies, change ratios
