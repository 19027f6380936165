"""Where chains begin."""

import torch
from torch import Tensor

from mhaug.rng import Streams
from mhaug.sampling.moves.resample import uniform_subset
from mhaug.sampling.setup import Setup


def spread_starts(setup: Setup, *, seed: int) -> dict[str, Tensor]:
    """Over-dispersed starts: chain 0 at the whole graph, the last at the empty one, the rest evenly between.

    A single chain starts at the whole graph, as in the paper.
    """
    starts = {}
    device = setup.graph.unit_edges.device
    for part, target in setup.targets.items():
        keys = Streams(seed, "start", part, count=setup.chains, device=device).uniform(target.units)
        ratios = torch.linspace(0.0, 1.0, setup.chains, dtype=torch.float64, device=device)
        starts[part] = uniform_subset(keys, (ratios * target.units).round().long())
    return starts
