"""What two ranks do with one chain as the augmenter of training; a part of `in_two_ranks.py`."""

import hashlib
from pathlib import Path

import torch
from torch import Tensor

from distributed.cases import clique_sampler, cliques
from methods.problems import planted_task
from mhaug.augmentation.shared_chain import SharedChainDrop
from mhaug.distributed.world import World
from mhaug.methods.method import Learner
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.training.fit import fit
from mhaug.training.plan import Plan
from mhaug.training.result import FitConfig

SHARED = {"chain_parts": 3, "accept": "blocks", "moves": "mixture", "entropy": "frozen"}


def begin_shared(world: World, seed: int = 0, **settings: object) -> Learner:
    """MH-Aug in batches of one chain in three parts; two batches a sample."""
    batching = {"hidden": 8, "batch_size": 4, "fan_outs": 3, "batches_per_sample": 2}
    plan = Plan.of("gcn", "mh-aug", {**batching, **SHARED, **settings})
    graph = LargeGraph.of(planted_task().graph)
    return plan.begin_in_batches(planted_task(), graph, plan.network(8, 3, seed=seed), seed=seed, world=world)


def views(world: World) -> list[list[int]]:
    """Along the augmenter itself, under an entropy that all know."""
    augmenter = SharedChainDrop(clique_sampler(), cliques(), parts=3, seed=5, world=world)
    entropy = torch.linspace(0, 1, cliques().num_nodes, dtype=torch.float64)
    return [augmenter.propose(entropy).current.edge_kept.int().tolist() for _ in range(4)]


def digest(tensors: dict[str, Tensor]) -> str:
    found = hashlib.sha256()
    for name in sorted(tensors):
        found.update(name.encode() + tensors[name].contiguous().numpy().tobytes())
    return found.hexdigest()


def place_of(learner: Learner) -> str:
    """Where the chain and its streams stand, and the views that are learned from."""
    masks = {name: view.edge_kept for name, view in learner._sample.views.items() if name != "original"}
    return digest({**learner._augmenter.state_dict(), **masks})


def trained(world: World, updates: int, path: Path | None = None, seed: int = 0) -> tuple[str, dict[str, object]]:
    learner = begin_shared(world, seed)
    config = FitConfig(max_updates=updates, weight_decay=0.0)
    result = fit(planted_task(), learner, config, checkpoint=path, world=world)
    numbers = {"losses": result.history["loss_total"], "steps": result.steps, "rate": result.acceptance_rate}
    return place_of(learner), {**numbers, "batches": learner._batches, "cut": learner._sample.batches}


def shared(world: World, folder: Path) -> dict[str, object]:
    """Two runs of the same seed; a run of one rank that two go on with, and a run of two that one goes on with."""
    runs = [trained(world, 5) for _ in range(2)]
    everywhere = world.bytes_of_all(runs[0][0].encode())
    found = {"views": views(world), "runs": [numbers for _, numbers in runs], "one_place": len(set(everywhere)) == 1}
    # five batches by one: the third sample is half done. The next one has been drawn after eight by one, or when
    # two ranks have taken two more each
    path, alone = folder / "one-begins" / "checkpoint.safetensors", World.alone()
    expected = ""
    if world.leads:
        expected, _ = trained(alone, 8)
        trained(alone, 5, path)
    place, _ = trained(world, 7, path, seed=world.rank)
    # what rank 0 says counts, and the other is where it is
    found["two_go_on"] = place == expected
    found["same_on_both"] = len(set(world.bytes_of_all(place.encode()))) == 1
    # two ranks: two samples in two updates. One alone is at the fourth after four batches more
    path = folder / "two-begin" / "checkpoint.safetensors"
    trained(world, 2, path)
    content = world.bytes_from_first(path.read_bytes() if world.leads else b"")
    expected, _ = trained(world, 4, path)
    if world.leads:
        path.write_bytes(content)
        place, numbers = trained(alone, 6, path, seed=9)
        found |= {"one_goes_on": place == expected, "batches_of_one": numbers["batches"]}
    return found
