"""Several chains on one graph, side by side: where they start, where they stand, and how they go on."""

from collections.abc import Mapping

import torch
from torch import Tensor

from mhaug import checks
from mhaug.rng import Streams
from mhaug.sampling.metropolis import MetropolisHastings, PartState, PartTransition
from mhaug.sampling.moves.resample import uniform_subset
from mhaug.sampling.subgraph import Subgraph, UnitGraph


class Chain:
    """The exact sequence of states, repeats included: after a rejection a step leaves the state where it was.

    It is this sequence that has the law P in the long run, for an entropy that does not change. The accepted
    candidates alone do not: they have the law of P times the probability of leaving.
    """

    def __init__(
        self, graph: UnitGraph, kernel: MetropolisHastings, *, rng: Streams, starts: Mapping[str, Tensor]
    ) -> None:
        self.graph = graph
        self.kernel = kernel
        self._rng = rng
        self.state = {name: part.init(starts[name]) for name, part in kernel.parts.items()}
        self._no_entropy = torch.zeros(graph.num_nodes, dtype=torch.float64, device=graph.unit_edges.device)

    def step(self, entropy: Tensor | None = None) -> dict[str, PartTransition]:
        """Move every chain on by one transition. `entropy` is ε, [V] or [chains, V] (0 where None)."""
        transitions = self.kernel.step(self.state, self._entropy(entropy), rng=self._rng)
        self.state = {name: transition.current for name, transition in transitions.items()}
        return transitions

    def log_prob(self, entropy: Tensor | None = None) -> Tensor:
        """Unnormalised log P of where the chains stand (Eq. 4: the sum over the parts), [chains]."""
        entropy = self._entropy(entropy)
        parts = self.kernel.parts.items()
        return torch.stack([part.target.log_prob(self.state[name].statistics, entropy) for name, part in parts]).sum(
            0
        )

    @property
    def subgraph(self) -> Subgraph:
        """Where the chains stand, [chains, ...]; a part that is never dropped is kept whole."""
        chains = next(iter(self.state.values())).kept.shape[0]
        return Subgraph(
            self._kept("edges", chains, self.graph.num_units),
            self._kept("nodes", chains, self.graph.num_nodes),
        )

    def state_dict(self) -> dict[str, Tensor]:
        """All that a resumed chain needs: masks and random streams."""
        masks = {name: part.kept for name, part in self.state.items()}
        return {**masks, "rng": self._rng.state()}

    def load_state_dict(self, saved: Mapping[str, Tensor]) -> None:
        """Go on exactly where `state_dict` was taken."""
        self.state = {name: part.init(saved[name]) for name, part in self.kernel.parts.items()}
        self._rng.restore(saved["rng"])

    def _kept(self, name: str, chains: int, units: int) -> Tensor:
        part: PartState | None = self.state.get(name)
        device = self.graph.unit_edges.device
        return torch.ones(chains, units, dtype=torch.bool, device=device) if part is None else part.kept

    def _entropy(self, entropy: Tensor | None) -> Tensor:
        return self._no_entropy if entropy is None else entropy.to(self._no_entropy)


def check_entropy(entropy: Tensor | None, num_nodes: int) -> None:
    """ε is one number in [0, 1] for each node."""
    if entropy is not None:
        checks.shape(entropy, "entropy", (num_nodes,))
        low, high = (float(entropy.min()), float(entropy.max())) if num_nodes else (0.0, 0.0)
        checks.require(low >= 0.0 and high <= 1.0, "entropy", "in [0, 1] everywhere", f"{low:g} to {high:g}")


def spread_starts(kernel: MetropolisHastings, chains: int, *, rng: Streams) -> dict[str, Tensor]:
    """Over-dispersed starts: chain 0 at the whole graph, the last at the empty one, the rest evenly between.

    A single chain starts at the whole graph, as in the paper.
    """
    starts = {}
    for name, part in kernel.parts.items():
        keys = rng.uniform(part.target.units)
        ratios = torch.linspace(0.0, 1.0, chains, dtype=torch.float64, device=keys.device)
        starts[name] = uniform_subset(keys, (ratios * part.target.units).round().long())
    return starts
