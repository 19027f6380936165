"""A neighbour sampler in plain torch: hop by hop, on any device, without a loop over nodes."""

from collections.abc import Sequence

import torch
from torch import Tensor

from mhaug import checks
from mhaug.minibatch.batch import Batch
from mhaug.minibatch.in_edges import InEdges, ranges
from mhaug.minibatch.subsets import draws, subsets

ALL = -1  # a fan-out that takes every neighbour
MANY = 32  # a sort costs as much for one node as marking costs for so many


class NeighbourSampler:
    """Neighbourhoods of seeds, with the law of PyG's `NeighborLoader`.

    A node found at hop h is asked once, at hop h + 1, for its in-neighbours: `fan_outs[h]` of them, each subset
    equally likely; all where it has no more or the fan-out is -1. With `replace` it gives exactly `fan_outs[h]`
    independent draws (none without neighbours), so that a column can come twice.
    """

    def __init__(self, edges: InEdges, fan_outs: Sequence[int], *, replace: bool = False) -> None:
        check_fan_outs(fan_outs)
        self.edges, self.fan_outs, self.replace = edges, tuple(fan_outs), replace
        # where each node of the whole graph lies in the batch at hand, -1 outside of it
        self._place = torch.full((edges.num_nodes,), -1, dtype=torch.long, device=edges.device)

    def sample(self, seeds: Tensor, *, generator: torch.Generator | None = None) -> Batch:
        """The batch of these nodes, which must differ from one another."""
        check_seeds(seeds, self.edges.num_nodes)
        nodes = [seeds]
        try:
            return self._sample(nodes, generator)
        finally:
            # whatever happened, the next batch finds no trace of this one
            self._place[torch.cat(nodes)] = -1

    def _sample(self, nodes: list[Tensor], generator: torch.Generator | None) -> Batch:
        """The batch of the seeds nodes[0]; what each hop finds is added to `nodes` before it is given its place."""
        frontier = seeds = nodes[0]
        found, counts = len(seeds), []
        numbers = torch.arange(found, device=self.edges.device)
        self._place[seeds] = numbers
        again = seeds[self._place[seeds] != numbers].unique()
        checks.require(len(again) == 0, "seeds", "nodes that differ from one another", f"{again[:5].tolist()} again")
        sources, targets, entries = [], [], []
        for fan_out in self.fan_outs:
            entry, owner = self._draw(frontier, fan_out, generator)
            source = self.edges.sources.index_select(0, entry).long()
            targets.append(owner + (found - len(frontier)))
            fresh = self._distinct(source[self._place.index_select(0, source) < 0])
            nodes.append(fresh)
            self._place[fresh] = torch.arange(found, found + len(fresh), device=self.edges.device)
            sources.append(self._place.index_select(0, source))
            entries.append(entry)
            counts.append(len(entry))
            frontier, found = fresh, found + len(fresh)
        n_id, columns = torch.cat(nodes), self.edges.columns.index_select(0, torch.cat(entries)).long()
        edge_index = torch.stack([torch.cat(sources), torch.cat(targets)])
        return Batch(n_id, edge_index, columns, len(seeds), tuple(map(len, nodes)), tuple(counts))

    def _distinct(self, nodes: Tensor) -> Tensor:
        """Each once, in order: by a sort where they are few, by marks over all nodes where they are many."""
        if len(nodes) * MANY < self.edges.num_nodes:
            return nodes.unique()
        marks = torch.zeros(self.edges.num_nodes, dtype=torch.bool, device=nodes.device)
        marks[nodes] = True
        return marks.nonzero().squeeze(1)

    def _draw(self, nodes: Tensor, fan_out: int, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
        """Entries that arrive at `nodes`, node by node, and which of `nodes` each belongs to."""
        sizes, starts = self.edges.degrees(nodes), self.edges.pointers[nodes]
        if fan_out == ALL:
            return ranges(starts, sizes)
        if self.replace:
            asked = sizes.nonzero().squeeze(1)
            drawn = draws(sizes[asked], fan_out, generator)
            return (starts[asked].unsqueeze(1) + drawn).flatten(), asked.repeat_interleave(fan_out)
        place, owner = ranges(starts, sizes.clamp(max=fan_out))
        large = sizes > fan_out
        chosen = subsets(sizes[large], fan_out, generator)
        # the rows of large nodes hold the first `fan_out` entries: here they get the ones that were chosen
        place[large.index_select(0, owner)] = (starts[large].unsqueeze(1) + chosen).flatten()
        return place, owner


def check_seeds(seeds: Tensor, num_nodes: int) -> None:
    """A long tensor of node numbers. (Whether they differ is seen when they get their places.)"""
    is_list = isinstance(seeds, Tensor) and seeds.dim() == 1 and seeds.dtype == torch.long
    got = f"{seeds.dtype}, {tuple(seeds.shape)}" if isinstance(seeds, Tensor) else type(seeds).__name__
    checks.require(is_list, "seeds", "a tensor of torch.int64, [seeds]", got)
    if len(seeds):
        low, high = (int(each) for each in seeds.aminmax())
        rule = f"node numbers in 0..{num_nodes - 1}"
        checks.require(low >= 0 and high < num_nodes, "seeds", rule, low if low < 0 else high)


def check_fan_outs(fan_outs: Sequence[int]) -> None:
    """One whole number a hop: at least 1, or -1 for all neighbours."""
    rule = "whole numbers, one a hop: at least 1, or -1 for all neighbours"
    is_list = isinstance(fan_outs, tuple | list) and len(fan_outs) > 0
    fits = is_list and all(type(number) is int and (number == ALL or number >= 1) for number in fan_outs)
    checks.require(fits, "fan_outs", rule, fan_outs)
