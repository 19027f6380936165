"""The loop, visible as a loop."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter

import torch
from torch import Tensor

from mhaug.data.task import NodeTask
from mhaug.distributed.gradients import average_gradients, same_start
from mhaug.distributed.world import World
from mhaug.methods.method import Learner, Step
from mhaug.objectives.non_finite import NonFiniteLossError, not_finite
from mhaug.training.averaging import WeightAveraging
from mhaug.training.checkpoint import load_checkpoint, save_checkpoint
from mhaug.training.memory import LARGE, keep_pages
from mhaug.training.progress import Progress
from mhaug.training.ranks import together
from mhaug.training.result import FitConfig, FitResult
from mhaug.training.schedule import Schedule

CHECKPOINT_EVERY = 100  # updates; a resumed run repeats at most so many (see `Schedule`)


def fit(
    task: NodeTask,
    learner: Learner,
    config: FitConfig,
    *,
    checkpoint: Path | None = None,
    checkpoint_every: int = CHECKPOINT_EVERY,
    report: Callable[[Progress], None] | None = None,
    world: World | None = None,
) -> FitResult:
    """Train until the updates, the candidates or the patience run out. The model ends with its best weights.

    With `checkpoint`, an existing file is resumed from, and the numbers are those of an uninterrupted run. With
    several ranks in `world` each takes a step of its own and the gradients are averaged; rank 0 decides and writes.
    """
    world = world or World.alone()
    if task.graph.num_edges >= LARGE:
        keep_pages()
    optimiser = torch.optim.Adam(
        learner.model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
    )
    same_start(world, learner.model)
    progress, mean = Progress(), WeightAveraging(learner.model, config.weight_averaging)
    if checkpoint is not None:
        progress = load_checkpoint(checkpoint, learner, optimiser, world, mean=mean) or progress

    def save() -> None:
        if checkpoint is not None:
            save_checkpoint(checkpoint, learner, optimiser, progress, world, mean=mean)

    started, schedule = perf_counter() - progress.seconds, Schedule(checkpoint_every, world)
    while not world.decides(_finished(progress, config, world.size)):
        step = together(world, learner.step(max(1, _left(progress, config, world.size) // world.size)))
        progress.count(step, world.size)
        if step.losses is None:
            break
        losses = step.losses.detached()
        trouble = _learn(step, losses, optimiser, world)
        progress.seconds = perf_counter() - started
        if trouble:
            save()
            raise _stopped(trouble, progress, checkpoint)
        mean.update(fresh=step.fresh)
        looks = config.evaluates(progress.updates + 1)
        with mean.in_place() if looks else nullcontext():
            if progress.record(step, losses, learner.predict() if looks else None, task):
                progress.best_weights = _copy(learner.model.state_dict())
        if checkpoint is not None and schedule.due(progress.updates):
            save()
        if report is not None:
            report(progress)
    save()
    if progress.best_weights:
        learner.model.load_state_dict(progress.best_weights)
    return progress.result()


def _left(progress: Progress, config: FitConfig, ranks: int) -> int:
    """Candidates that all ranks together may still draw: each has the budget of one alone."""
    return round((config.step_budget - progress.spent) * ranks)


def _finished(progress: Progress, config: FitConfig, ranks: int) -> bool:
    tired = config.patience is not None and progress.updates - progress.best.update >= config.patience
    return progress.updates >= config.max_updates or _left(progress, config, ranks) <= 0 or tired


def _learn(step: Step, losses: dict[str, float], optimiser: torch.optim.Optimizer, world: World) -> str | None:
    """One update; or the name of what is not finite, and no update. `losses` become the means over the ranks."""
    assert step.losses is not None
    trouble = not_finite(losses)
    if step.fresh:
        optimiser.state.clear()
    optimiser.zero_grad()
    if trouble is None:
        step.losses.total.backward()
    parameters = [each for group in optimiser.param_groups for each in group["params"]]
    notes = average_gradients(world, parameters, torch.tensor([*losses.values(), float(trouble is not None)]))
    if notes[-1]:
        return trouble or "the loss of another rank is not finite"
    if world.size > 1:
        losses.update(zip(losses, (notes[:-1] / world.size).tolist(), strict=True))
    gradients = [each.grad for each in parameters if each.grad is not None]
    if not bool(torch.stack([gradient.sum() for gradient in gradients]).isfinite().all()):
        return "the gradient is not finite"
    optimiser.step()
    return None


def _stopped(trouble: str, progress: Progress, checkpoint: Path | None) -> NonFiniteLossError:
    """Where it was lost, and where the last good state is kept."""
    kept = "the model keeps the weights of the last update"
    if checkpoint is not None:
        kept += f", saved in {checkpoint}"
    message = f"training stopped at step {progress.steps} (after update {progress.updates}): {trouble}; {kept}"
    return NonFiniteLossError(message, progress.result() if progress.updates else None)


def _copy(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in weights.items()}
