"""Nodes so far apart that no other node is seen by two of them: perturbations around them do not interact."""

import torch
from torch import Tensor

from mhaug.backbones.structure import Structure

ROUNDS = 6  # where the host is not to be asked whether all is settled; most graphs need three or four


def far_apart(structure: Structure, keys: Tensor, *, reach: int, most: int, ask: bool = True) -> Tensor:
    """Up to `most` nodes, bool [V, ...], no two of which receive from a common node within `reach` hops.

    `structure` has rows = targets, columns = sources and self-connections; in an undirected graph the nodes are more
    than 2·`reach` hops apart. The nodes are those that one finds by going through all in falling order of their
    random `keys` [V, ...], taking each that is far from the ones taken before, until there are `most`; but in
    parallel, in a few rounds. Where fewer fit, all that fit are taken: nothing is tried twice. Without `ask` a fixed
    number of rounds is done, and the host never waits; a node may then be missing.
    """
    left = torch.ones_like(keys, dtype=torch.bool)
    chosen = torch.zeros_like(left)
    rounds = 0
    while bool(left.any()) if ask else rounds < ROUNDS:
        standing = keys.masked_fill(~left, -1.0)
        taken = left & (standing == _largest_near(structure, standing, reach))
        chosen |= taken
        left &= _largest_near(structure, taken.to(keys.dtype), reach) == 0.0
        rounds += 1
    ranked = keys.masked_fill(~chosen, -1.0)
    return chosen & (ranked >= ranked.topk(min(most, keys.shape[0]), dim=0).values[-1])


def _largest_near(structure: Structure, values: Tensor, reach: int) -> Tensor:
    """The largest value [V, ...] among the nodes that receive from a common node."""
    for _ in range(reach):  # to those that are received from
        ordered = values.index_select(0, structure.rows).index_select(0, structure.order)
        offsets = structure.transposed_pointers
        values = torch.segment_reduce(ordered, "max", offsets=offsets, unsafe=True)
    for _ in range(reach):  # to all that receive from them
        values = structure.row_maxima(values.index_select(0, structure.columns))
    return values
