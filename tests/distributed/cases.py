"""Graphs, chains and a run that one process and two ranks are held against each other on."""

import torch
from torch_geometric.data import Data

from mhaug import EgoTerm, MHAug, RunSpec
from mhaug.data.toy_graphs import path_graph
from mhaug.distributed.chain import PartitionedChain
from mhaug.distributed.partitioned import partitioned_chain
from mhaug.distributed.world import World
from sampling.enumeration import state_number

TERM = EgoTerm(strength=0.4, spread_floor=0.25, count_weight=0.8, strength_slope=0.2)
SPEC = RunSpec("planted-partition", "gcn", "mh-aug", settings={"max_updates": 120, "hidden": 8})


def cliques(count: int = 6, size: int = 6) -> Data:
    """Groups in which all are joined, in a ring with one edge to the next."""
    inside = [(a + size * g, b + size * g) for g in range(count) for a in range(size) for b in range(a)]
    ring = [(size * g, (size * (g + 1) + 1) % (size * count)) for g in range(count)]
    pairs = torch.tensor(inside + ring).T
    return Data(edge_index=torch.cat([pairs, pairs.flip(0)], 1), num_nodes=size * count)


def clique_sampler() -> MHAug:
    """Edges and nodes."""
    return MHAug(edges=TERM, nodes=EgoTerm(strength=0.3), step_size=0.1)


def chain_on_cliques(world: World, seed: int = 0) -> PartitionedChain:
    """Three parts."""
    return partitioned_chain(clique_sampler(), cliques(), parts=3, seed=seed, world=world)


def path_sampler() -> MHAug:
    """A target on six edges."""
    return MHAug(edges=TERM, hops=1, step_size=0.2)


def chain_on_path(world: World) -> PartitionedChain:
    """Two parts."""
    return partitioned_chain(path_sampler(), path_graph(7), parts=2, world=world)


def states_along(chain: PartitionedChain, draws: int, thin: int = 11) -> list[int]:
    """Numbers of the states at every `thin`-th round, after some.

    The second eigenvalue of a round on the path is 0.43 (its matrices, integrated over the tilt by quadrature):
    eleven rounds leave less than 1 in 10^4 of the correlation.
    """
    chain.step(rounds=thin)
    states = []
    for _ in range(draws):
        chain.step(rounds=thin)
        states.append(int(state_number(chain.kept("edges"))))
    return states
