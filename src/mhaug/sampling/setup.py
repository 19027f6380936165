"""All that decides a set of chains but the random streams: with the graph at hand, and without."""

from dataclasses import dataclass

from torch import Tensor

from mhaug.per_replica import PerReplica
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.target import EgoTarget, EgoTerm, edge_target, node_target
from mhaug.sampling.terms import Term


@dataclass(frozen=True)
class Outline:
    """What is asked of the chains, and the sizes of the graph: enough where others hold its edges."""

    num_nodes: int
    num_units: int  # M
    terms: dict[str, EgoTerm]  # "edges", "nodes": those that are dropped
    step_sizes: dict[str, PerReplica]
    resample_work: dict[str, float]  # local moves that cost as much as one resample
    moves: str
    joint: bool
    hops: int
    chains: int

    @property
    def per_chain(self) -> bool:
        """Whether chains have targets or step sizes of their own."""
        numbers = [number for term in self.terms.values() for number in vars(term).values()]
        return any(isinstance(number, Tensor) for number in [*numbers, *self.step_sizes.values()])

    def units(self, part: str) -> int:
        """How many edges or nodes can be dropped."""
        return self.num_units if part == "edges" else self.num_nodes

    def on(self, graph: UnitGraph, extra: Term | None = None) -> "Setup":
        """With the targets on this graph; `extra` is a term of one's own of the edges."""
        targets = {}
        if "edges" in self.terms:
            targets["edges"] = edge_target(graph, self.terms["edges"], self.hops, extra)
        if "nodes" in self.terms:
            targets["nodes"] = node_target(graph, self.terms["nodes"], self.hops)
        return Setup(**vars(self), graph=graph, targets=targets)


@dataclass(frozen=True)
class Setup(Outline):
    """And the graph itself."""

    graph: UnitGraph
    targets: dict[str, EgoTarget]  # one for each of `terms`
