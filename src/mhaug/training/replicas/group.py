"""Plans and seeds -> one fit of all of them, side by side."""

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

import torch

from mhaug import checks, rng
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.layer_stack import LayerStack
from mhaug.backbones.replicas import RATES, stack_networks
from mhaug.data.task import NodeTask
from mhaug.methods.method import Problem
from mhaug.methods.stacking import shape_of, stack_methods
from mhaug.training.plan import Plan
from mhaug.training.progress import Progress
from mhaug.training.replicas import checkpoint as files
from mhaug.training.replicas.fit import ReplicaFit


def group_key(plan: Plan) -> Hashable | None:
    """Plans with one key can be trained side by side on one graph; None: this one goes alone."""
    if not plan.method.side_by_side or plan.batching.on or plan.config.evaluate_every > 1:
        return None
    sizes = {name: value for name, value in plan.backbone_settings.items() if name not in RATES}
    return plan.backbone, tuple(sorted(sizes.items())), shape_of(plan.method)


def begin_together(tasks: Sequence[NodeTask], plans: Sequence[Plan], seeds: Sequence[int]) -> ReplicaFit:
    """Replica r learns `tasks[r]` as `plans[r]` says, from weights that `seeds[r]` alone decides.

    The tasks share a graph and its labels; their splits may differ. Every other random number comes from torch's
    global generator, seeded here from all seeds: a run's numbers depend on its company, their law does not.
    """
    task, device = tasks[0], tasks[0].labels.device
    keys = {group_key(plan) for plan in plans}
    checks.require(len(keys) == 1 and None not in keys, "plans", "alike in all but rates and real numbers", keys)
    graph = GraphInput.from_data(task.graph)
    networks = [
        plan.network(graph.num_features, task.num_classes, seed=seed) for plan, seed in zip(plans, seeds, strict=True)
    ]
    assert all(isinstance(network, LayerStack) for network in networks)
    network = stack_networks(networks).to(device)  # type: ignore[arg-type]
    method = stack_methods([plan.method for plan in plans], device=device)
    problem = Problem(task, graph, torch.stack([each.split.train for each in tasks]))
    rng.seed_global(seeds[0], "replicas", *seeds)
    learner = method.begin(problem, network, seed=seeds[0])
    return ReplicaFit(list(tasks), learner, [plan.config for plan in plans])


def fit_together(
    tasks: Sequence[NodeTask],
    plans: Sequence[Plan],
    seeds: Sequence[int],
    *,
    checkpoint: Path | None = None,
    checkpoint_every: int = 100,
    report: Callable[[Progress], None] | None = None,
) -> ReplicaFit:
    """Train all of them. With `checkpoint`, a file of these very runs is resumed from; another is written over."""
    fitting = begin_together(tasks, plans, seeds)
    identity = repr([(task.name, plan, seed) for task, plan, seed in zip(tasks, plans, seeds, strict=True)])
    if checkpoint is not None:
        files.restore(checkpoint, fitting, identity)
    saved = fitting.updates()

    def look(now: ReplicaFit) -> None:
        nonlocal saved
        if report is not None:
            report(now.notebook.progress())
        if checkpoint is not None and now.updates() - saved >= checkpoint_every:
            saved = now.updates()
            files.save(checkpoint, now, identity)

    fitting.run(look)
    return fitting
