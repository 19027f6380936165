"""P given the number of dropped edges: swaps, which keep the count, at several spreads at once.

Where the target is sharp, swaps alone stay in the valley that they started in. So they run at a ladder of spreads,
from the one asked to a flat one, and neighbours on the ladder exchange their states by the Metropolis rule (replica
exchange): the law at every spread stays what it was, and what is found on the flat end reaches the sharp one.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from mhaug.rng import Streams
from mhaug.sampling.chain import Chain
from mhaug.sampling.moves.resample import uniform_subset
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.target import EgoTerm

FLAT, STEP = 1.0, 1.26  # the widest spread that a ladder needs, and the largest ratio between neighbours


@dataclass(frozen=True)
class Effort:
    """How much is drawn. A chain here is a ladder of its own; `rounds` of swaps pass between two draws."""

    chains: int = 4
    draws: int = 1000
    warmup: int = 300
    rounds: int = 2


class Drops(NamedTuple):
    """What was drawn."""

    unit_edges: Tensor  # long [2, M]
    dropped: Tensor  # bool [chains, draws, M]
    ego_change: Tensor  # float64 [chains, draws]: mean of Δ_i over the nodes
    exchanges: float  # share of exchanges accepted, where fewest; 1 without a ladder


def ladder(spread: float) -> list[float]:
    """Spreads from the one asked up to `FLAT`; that one alone where it is flat itself."""
    levels = 1 + max(0, int(np.ceil(np.log(FLAT / spread) / np.log(STEP))))
    return [spread] if levels == 1 else np.geomspace(spread, FLAT, levels).tolist()


def drops_at_count(
    data: Any, *, strength: float, spread: float, dropped: int, seed: int, effort: Effort, hops: int = 2
) -> Drops:
    """Draws from P given that exactly `dropped` edges are dropped."""
    spreads = ladder(spread)
    chains = [
        _start(data, EgoTerm(strength, 0.0, each), dropped, hops, effort.chains, seed, rung)
        for rung, each in enumerate(spreads)
    ]
    rng = Streams(seed, "exchange", count=effort.chains)
    sharpness = torch.tensor([0.5 / each**2 for each in spreads], dtype=torch.float64)
    accepted, tried = torch.zeros(2, max(len(spreads) - 1, 1), dtype=torch.float64)
    masks, egos = [], []
    for draw in range(effort.warmup + effort.draws):
        for chain in chains:
            chain.step(rounds=effort.rounds)
        for low in range(draw % 2, len(chains) - 1, 2):
            tried[low] += effort.chains
            accepted[low] += _exchange(chains[low], chains[low + 1], sharpness[low : low + 2], strength, rng)
        if draw >= effort.warmup:
            masks.append(~chains[0].kept("edges"))
            egos.append(chains[0].change("edges").ego)
    rate = float((accepted / tried.clamp(min=1)).min()) if len(chains) > 1 else 1.0
    return Drops(chains[0].graph.unit_edges.cpu(), torch.stack(masks, 1).cpu(), torch.stack(egos, 1).cpu(), rate)


def _start(data: Any, term: EgoTerm, dropped: int, hops: int, count: int, seed: int, rung: int) -> Chain:
    """Chains of swaps at random subsets of the size asked."""
    # a ladder has one seed; its rungs are told apart by a stride that no two seeds share
    chain = MHAug(edges=term, hops=hops, moves="swap").chain(data, chains=count, seed=1000 * seed + rung)
    units, device = chain.graph.num_units, chain.graph.unit_edges.device
    keys = Streams(seed, "fixed-count", rung, count=count, device=device).uniform(units)
    chain.place({"edges": uniform_subset(keys, torch.full((count,), dropped, device=device))})
    return chain


def _exchange(one: Chain, other: Chain, sharpness: Tensor, strength: float, rng: Streams) -> float:
    """Swap the states of two rungs, chain by chain, with probability min(1, exp((b1 - b2)(S1 - S2)))."""
    # P at a spread is exp(-b S), b = 1 / 2σ², where the count is the same: its term cancels
    distances = []
    for chain in (one, other):
        change = chain.change("edges")
        distances.append(chain.graph.num_nodes * (change.spread.square() + (change.ego - strength).square()).cpu())
    ratio = (sharpness[0] - sharpness[1]) * (distances[0] - distances[1])
    accepted = rng.uniform(1).squeeze(1).log() <= ratio
    if accepted.any():
        mine, theirs = one.kept("edges"), other.kept("edges")
        moved = accepted.unsqueeze(1).to(mine.device)
        one.place({"edges": torch.where(moved, theirs, mine)})
        other.place({"edges": torch.where(moved, mine, theirs)})
    return float(accepted.sum())
