"""The loop, visible as a loop."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import torch
from torch import Tensor

from mhaug.data.task import NodeTask
from mhaug.methods.method import Learner, Step
from mhaug.training.checkpoint import load_checkpoint, save_checkpoint
from mhaug.training.progress import Progress
from mhaug.training.result import FitConfig, FitResult, NonFiniteLossError

CHECKPOINT_EVERY = 100  # updates; a resumed run repeats at most so many


def fit(
    task: NodeTask,
    learner: Learner,
    config: FitConfig,
    *,
    checkpoint: Path | None = None,
    checkpoint_every: int = CHECKPOINT_EVERY,
    report: Callable[[Progress], None] | None = None,
) -> FitResult:
    """Train until the updates, the candidates or the patience run out. The model ends with its best weights.

    With `checkpoint`, an existing file is resumed from, and the numbers are those of an uninterrupted run.
    """
    optimiser = torch.optim.Adam(
        learner.model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
    )
    progress = Progress()
    if checkpoint is not None and checkpoint.exists():
        progress = load_checkpoint(checkpoint, learner, optimiser)
    started = perf_counter() - progress.seconds
    while not _finished(progress, config):
        step = learner.step(config.step_budget - progress.steps)
        progress.count(step)
        if step.losses is None:
            break
        losses = step.losses.detached()
        trouble = _learn(step, losses, optimiser)
        progress.seconds = perf_counter() - started
        if trouble:
            raise _stopped(trouble, learner, optimiser, progress, checkpoint)
        logits = learner.predict() if config.evaluates(progress.updates + 1) else None
        if progress.record(step, losses, logits, task):
            progress.best_weights = _copy(learner.model.state_dict())
        if checkpoint is not None and progress.updates % checkpoint_every == 0:
            save_checkpoint(checkpoint, learner, optimiser, progress)
        if report is not None:
            report(progress)
    if checkpoint is not None:
        save_checkpoint(checkpoint, learner, optimiser, progress)
    if progress.best_weights:
        learner.model.load_state_dict(progress.best_weights)
    return progress.result()


def _finished(progress: Progress, config: FitConfig) -> bool:
    tired = config.patience is not None and progress.updates - progress.best.update >= config.patience
    return progress.updates >= config.max_updates or progress.steps >= config.step_budget or tired


def _learn(step: Step, losses: dict[str, float], optimiser: torch.optim.Optimizer) -> str | None:
    """One update; or the name of what is not finite, and no update."""
    assert step.losses is not None
    terms = [name for name in losses if name != "total"]
    for name in [*terms, "total"]:
        if not torch.isfinite(torch.tensor(losses[name])):
            return f"the term '{name}' of the loss is {losses[name]}"
    optimiser.zero_grad()
    step.losses.total.backward()
    gradients = [p.grad for group in optimiser.param_groups for p in group["params"] if p.grad is not None]
    if not bool(torch.stack([gradient.sum() for gradient in gradients]).isfinite().all()):
        return "the gradient is not finite"
    optimiser.step()
    return None


def _stopped(
    trouble: str, learner: Learner, optimiser: torch.optim.Optimizer, progress: Progress, checkpoint: Path | None
) -> NonFiniteLossError:
    """Keep the last good state, and say where it was lost."""
    kept = "the model keeps the weights of the last update"
    if checkpoint is not None:
        save_checkpoint(checkpoint, learner, optimiser, progress)
        kept += f", saved in {checkpoint}"
    message = f"training stopped at step {progress.steps} (after update {progress.updates}): {trouble}; {kept}"
    return NonFiniteLossError(message, progress.result() if progress.updates else None)


def _copy(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in weights.items()}
