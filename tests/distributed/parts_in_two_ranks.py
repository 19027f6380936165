"""What two ranks do with chains in parts; a part of `in_two_ranks.py`."""

import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import sleep
from unittest import mock

import torch
from torch import distributed

from distributed.cases import chain_on_cliques, chain_on_path, clique_sampler, cliques, path_sampler, states_along
from mhaug.data.toy_graphs import path_graph
from mhaug.distributed.folder import FACTS
from mhaug.distributed.node_parts import node_parts
from mhaug.distributed.partitioned import divide, partitioned_chain
from mhaug.distributed.world import World


def chains(world: World) -> dict[str, object]:
    """The law on a tiny graph; the very states on a larger one, before and after going on from a saved state."""
    larger = chain_on_cliques(world)
    larger.step(rounds=3)
    saved = larger.state_dict()
    larger.step(rounds=2)
    resumed = chain_on_cliques(world, seed=1)
    resumed.load_state_dict(saved)
    resumed.step(rounds=2)
    return {
        "states": states_along(chain_on_path(world), 12),
        "kept": larger.kept("edges").int().tolist(),
        "log_prob": larger.log_prob().item(),
        "change": [part.item() for part in larger.change("nodes")],
        "resumed": resumed.kept("edges").int().tolist() == larger.kept("edges").int().tolist(),
    }


def from_folders(world: World, folder: Path) -> list[list[int]]:
    """Rank 0 divides; then each rank has a folder of its own, with its own pieces and no others."""
    whole, mine = folder / "whole", folder / f"rank{world.rank}"
    if world.leads:
        divide(cliques(), whole, parts=3)
    world.wait()
    mine.mkdir(parents=True)
    shutil.copy(whole / FACTS, mine)
    for number in world.share_of(3):
        for path in whole.glob(f"*.part{number}.npz"):
            shutil.copy(path, mine)
    chain = partitioned_chain(clique_sampler(), mine, world=world)
    chain.step(rounds=5)
    return chain.kept("edges").int().tolist()


def patience(world: World) -> bool:
    """Rank 0 takes three seconds to divide the graph, in a group that loses its patience after one."""
    hasty = replace(world, group=distributed.new_group(backend="gloo", timeout=timedelta(seconds=1)))

    def slowly(*words: object, **options: object) -> torch.Tensor:
        sleep(3.0)
        return node_parts(*words, **options)

    with mock.patch("mhaug.distributed.division.node_parts", slowly):
        chain = partitioned_chain(path_sampler(), path_graph(7), parts=2, world=hasty)
    return chain.setup.num_units == 6
