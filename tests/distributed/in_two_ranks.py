"""What two ranks do in `test_two_ranks.py`; rank 0 writes what it found. Also run by one process, for comparison."""

import json
import math
import sys
from dataclasses import replace
from pathlib import Path

import torch

from distributed.cases import SPEC
from distributed.parts_in_two_ranks import chains, from_folders, patience
from distributed.shared_in_two_ranks import shared
from methods.problems import begin, planted_task
from mhaug import NodeClassifier, load_dataset
from mhaug.distributed.gradients import average_gradients
from mhaug.distributed.torchrun import joined
from mhaug.distributed.world import World
from mhaug.experiments.run import run
from mhaug.methods.augmented import AugmentedLearner
from mhaug.methods.catalogue import METHODS
from mhaug.methods.method import Learner, Step
from mhaug.minibatch.inference import infer
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.objectives.objective import Losses
from mhaug.training.fit import fit
from mhaug.training.plan import Plan
from mhaug.training.result import FitConfig, NonFiniteLossError


def words(world: World) -> dict[str, object]:
    """Every way to talk."""
    mine = bytes([world.rank]) * (3 * world.rank)
    return {
        "total": world.total(torch.tensor([1.0, float(world.rank)])).tolist(),
        "from_first": world.from_first(torch.tensor([7 + world.rank])).tolist(),
        "decides": world.decides(world.leads),
        "union": world.union((torch.arange(11) % 4 == world.rank).numpy()).tolist(),
        "bytes_from_first": world.bytes_from_first(b"rank 0" if world.leads else b"").decode(),
        "bytes_of_all": [len(each) for each in world.bytes_of_all(mine)],
    }


def begin_in_batches(world: World, seed: int = 0) -> Learner:
    """MH-Aug, which reads the entropy of a shared evaluation."""
    plan = Plan.of("gcn", "mh-aug", {"hidden": 8, "batch_size": 4, "fan_outs": 3, "batches_per_sample": 2})
    graph = LargeGraph.of(planted_task().graph)
    return plan.begin_in_batches(planted_task(), graph, plan.network(8, 3, seed=seed), seed=seed, world=world)


def in_batches(world: World, folder: Path) -> dict[str, object]:
    """Two runs of the same seed; one that rank 0 began alone; and an evaluation, together and alone."""
    short, whole = (FitConfig(max_updates=updates, weight_decay=0.0) for updates in (6, 12))
    losses = [
        fit(planted_task(), begin_in_batches(world), short, world=world).history["loss_total"] for _ in range(2)
    ]
    path = folder / "checkpoint.safetensors"
    if world.leads:
        fit(planted_task(), begin_in_batches(World.alone()), short, checkpoint=path)
    learner = begin_in_batches(world, seed=world.rank)  # what ranks share comes from the file
    result = fit(planted_task(), learner, whole, checkpoint=path, world=world)
    own = infer(learner.model, LargeGraph.of(planted_task().graph), 2)
    apart = float((learner.predict() - own).abs().max())
    orders = [json.loads(text) for text in world.bytes_of_all(json.dumps(learner._batches).encode())]
    return {"losses": losses, "updates": result.updates, "batches": orders, "evaluation": apart}


def gradients(world: World) -> dict[str, object]:
    """Means over the ranks: of what both have, of what rank 0 has, of what nobody has."""
    both, first, nobody = (torch.nn.Parameter(torch.zeros(2)) for _ in range(3))
    both.grad = torch.tensor([1.0, 4.0]) * (1 + 2 * world.rank)
    first.grad = torch.ones(2) if world.leads else None
    notes = average_gradients(world, [both, first, nobody], torch.tensor([1.0 + world.rank]))
    return {"both": both.grad.tolist(), "first": first.grad.tolist(), "nobody": nobody.grad, "notes": notes.tolist()}


def trouble(world: World) -> list[str]:
    """What each rank says when the loss of rank 1 is not finite at the second update."""
    learner, steps = begin("vanilla"), []

    def step(max_proposals: int) -> Step:
        steps.append(AugmentedLearner.step(learner, max_proposals))
        losses = steps[-1].losses
        broken = Losses(losses.total * math.nan, losses.terms)
        return replace(steps[-1], losses=broken) if len(steps) == 2 and world.rank == 1 else steps[-1]

    learner.step = step
    try:
        fit(planted_task(), learner, FitConfig(max_updates=5), world=world)
    except NonFiniteLossError as stopped:
        return [said.decode() for said in world.bytes_of_all(str(stopped).encode())]
    return []


def training(world: World) -> dict[str, float]:
    """How far the weights of the ranks are apart after some updates of every method."""
    apart = {}
    for method in METHODS:
        learner = begin(method, seed=world.rank)
        fit(planted_task(), learner, FitConfig(max_updates=3), world=world)
        weights = torch.cat([each.detach().reshape(-1) for each in learner.model.parameters()])
        apart[method] = float((world.from_first(weights) - weights).abs().max())
    return apart


def rounds(world: World) -> list[float]:
    """Sums over weights and edges after AdaEdge's rounds and GAug-M, which change the graph that all learn on."""
    task, short = load_dataset("planted-partition"), {"max_updates": 9, "hidden": 8}
    # nothing validates: the last weights are kept, and the last graph
    task = replace(task, split=replace(task.split, validation=torch.zeros_like(task.split.validation)))
    sure = {"add_confidence": 0.2, "remove_confidence": 0.2, "rounds": 3}
    found = []
    for method, settings in (("ada-edge", sure), ("gaug-m", {"encoder_epochs": 3})):
        clf = NodeClassifier(method, **short, **settings).fit(task, world=world)
        weights = torch.cat([each.detach().reshape(-1) for each in clf.model_.parameters()])
        found += [float(weights.double().abs().sum()), float(clf._kept["after"].double().square().sum())]
    return found


def main(out: Path) -> None:
    with joined() as world:
        found = {"words": words(world), "chains": chains(world), "apart": training(world)}
        found |= {"gradients": gradients(world), "trouble": trouble(world), "patience": patience(world)}
        found["batches"] = in_batches(world, out.with_suffix(".folder"))
        mine = json.dumps(rounds(world)).encode()
        found["from_folders"] = from_folders(world, out.with_suffix(".divided"))
        found["shared"] = shared(world, out.with_suffix(".shared"))
        found["rounds"] = [json.loads(each) for each in world.bytes_of_all(mine)]
        record = run(SPEC, world=world)
        found["run"] = {"test": record.test_accuracy, "loss": record.history["loss_total"], "ranks": record.ranks}
        # the last word is that of rank 1, where the weights could differ
        apart = world.bytes_of_all(json.dumps(found["apart"]).encode())
        found["apart"] = json.loads(apart[-1])
        if world.leads:
            out.write_text(json.dumps(found))


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
