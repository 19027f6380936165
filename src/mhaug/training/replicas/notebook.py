"""Where R fits stand, all on the device: counters, the best so far, the history. `Progress` for replicas."""

import torch
from torch import Tensor

from mhaug.data.task import NodeTask
from mhaug.methods.method import Step
from mhaug.objectives.supervised import supervised_loss
from mhaug.training.evaluation import macro_f1
from mhaug.training.progress import Progress
from mhaug.training.result import FitConfig, FitResult


class Notebook:
    """Nothing here waits for the device until `results` is asked for; no tensor is ever replaced."""

    def __init__(self, tasks: list[NodeTask], configs: list[FitConfig], weights: Tensor) -> None:
        device, replicas = weights.device, len(tasks)
        self._tasks, self._labels = tasks, tasks[0].labels
        splits = [task.split for task in tasks]
        sets = [torch.stack([getattr(s, name) for s in splits]) for name in ("train", "validation", "test")]
        self._sets = torch.stack(sets).to(weights.dtype)  # [3, R, V]
        numbers = {
            "updates": [config.max_updates for config in configs],
            "steps": [config.step_budget for config in configs],
            "patience": [config.patience or 2**62 for config in configs],
        }
        self._limits = {name: torch.tensor(row, device=device) for name, row in numbers.items()}
        self._rows = max(numbers["updates"])
        counter = torch.zeros(replicas, dtype=torch.long, device=device)
        worst = torch.full((replicas,), -torch.inf, dtype=weights.dtype, device=device)
        self.state = {
            **{name: counter.clone() for name in ("updates", "steps", "accepted", "best_update")},
            "failed": counter.bool(),
            "best_validation": worst,
            "best_guess": self._labels.expand(replicas, -1).clone(),
            "best_weights": weights.clone(),
        }
        self.columns: list[str] = []

    def learning(self, step: Step, losses: Tensor, gradient: Tensor) -> Tensor:
        """Who learns from this step, bool [R]: not those that are done, nor those whose numbers are not finite."""
        assert step.learns is not None
        running = ~self.finished()
        # a broken network is found out even while its candidates are rejected, as they would be for ever
        finite = losses.isfinite() & (gradient.sum(1).isfinite() | ~step.learns)
        self.state["failed"] |= running & ~finite
        return running & finite & step.learns

    @torch.no_grad()
    def record(self, step: Step, learns: Tensor, logits: Tensor, weights: Tensor) -> None:
        """Note one step: its candidates for all that still run, its update for those that learnt."""
        state, running = self.state, ~self.finished()
        state["steps"] += running
        state["accepted"] += step.accepted & running
        state["updates"] += learns
        guess = logits.argmax(-1)
        scores = (self._sets * (guess == self._labels)).sum(-1) / self._sets.sum(-1)  # [3, R]; NaN for an empty set
        # an empty validation set cannot choose: the last update is taken
        better = learns & ((scores[1] > state["best_validation"]) | scores[1].isnan())
        state["best_validation"].copy_(scores[1].where(better, state["best_validation"]))
        state["best_update"].copy_(state["updates"].where(better, state["best_update"]))
        state["best_guess"].copy_(guess.where(better.unsqueeze(1), state["best_guess"]))
        state["best_weights"].copy_(weights.where(better.unsqueeze(1), state["best_weights"]))
        loss = supervised_loss(logits, self._labels, self._sets[1].bool())
        self._note(step, scores, loss, learns)

    def finished(self) -> Tensor:
        """Whose updates, candidates or patience have run out, bool [R]."""
        state, limits = self.state, self._limits
        tired = state["updates"] - state["best_update"] >= limits["patience"]
        spent = (state["updates"] >= limits["updates"]) | (state["steps"] >= limits["steps"])
        return spent | tired | state["failed"]

    def results(self, seconds: float) -> list[FitResult]:
        """What each replica reached; `seconds` is its share of the time. Waits for the device."""
        state = {name: value.cpu() for name, value in self.state.items()}
        return [self._result(state, index, seconds) for index in range(len(self._tasks))]

    def progress(self) -> Progress:
        """The slowest replica's last update, in the words of the plain loop. Waits for the device."""
        slowest = int(self.state["updates"].argmin())
        updates = int(self.state["updates"][slowest])
        row = self.state["history"][max(updates - 1, 0), :, slowest].tolist()
        history = {name: [value] for name, value in zip(self.columns, row, strict=True)}
        return Progress(updates=updates, history=history)

    def begin_history(self, columns: list[str], history: Tensor) -> None:
        """Columns are known after the first step: losses, accuracies and whatever the method tells."""
        self.columns, self.state["history"] = columns, history

    def _note(self, step: Step, scores: Tensor, loss: Tensor, learns: Tensor) -> None:
        assert step.losses is not None
        state = self.state
        row: dict[str, float | Tensor] = {"loss_total": step.losses.total}
        row |= {f"loss_{name}": term for name, term in step.losses.terms.items()}
        row |= dict(zip(("train_accuracy", "validation_accuracy", "test_accuracy"), scores, strict=True))
        row["validation_loss"] = loss
        row |= {"acceptance": state["accepted"] / state["steps"], "steps": state["steps"], **step.info}
        cells = [value if isinstance(value, Tensor) else scores.new_full((), value) for value in row.values()]
        values = torch.stack([cell.to(scores.dtype).expand_as(learns) for cell in cells])  # [columns, R]
        if not self.columns:
            # one row more than updates: those who did not learn write there
            self.begin_history(list(row), values.new_full((self._rows + 1, *values.shape), torch.nan))
        line = torch.where(learns, state["updates"] - 1, self._rows)
        self.state["history"].scatter_(0, line.expand(1, *values.shape), values.unsqueeze(0))

    def _result(self, state: dict[str, Tensor], index: int, seconds: float) -> FitResult:
        updates, steps, accepted = (int(state[name][index]) for name in ("updates", "steps", "accepted"))
        columns = state["history"][:updates, :, index].double().T.tolist()
        history = dict(zip(self.columns, columns, strict=True))
        best = int(state["best_update"][index])
        task = self._tasks[index]
        guess = torch.nn.functional.one_hot(state["best_guess"][index], task.num_classes)
        sets = {"validation": task.split.validation.cpu(), "test": task.split.test.cpu()}
        f1 = {name: macro_f1(guess, task.labels.cpu(), nodes) for name, nodes in sets.items()}

        def at(name: str, update: int) -> float:
            return history[name][update - 1] if updates else float("nan")

        return FitResult(
            validation_accuracy=at("validation_accuracy", best),
            test_accuracy=at("test_accuracy", best),
            validation_macro_f1=f1["validation"],
            test_macro_f1=f1["test"],
            best_update=best,
            last_test_accuracy=at("test_accuracy", updates),
            updates=updates,
            steps=steps,
            acceptance_rate=accepted / max(steps, 1),
            seconds=seconds,
            history=history,
        )
