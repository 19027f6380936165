"""GAug-M (Zhao et al. 2021): the graph is changed once, by an auto-encoder, before training."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug import checks
from mhaug.backbones.backbone import Backbone
from mhaug.methods.method import Problem
from mhaug.methods.parts.auto_encoder import variational_codes
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.rewired import Rewired, RewiredLearner
from mhaug.methods.parts.top_pairs import likeliest_missing
from mhaug.methods.rewiring_method import RewiringMethod
from mhaug.sampling.subgraph import UnitGraph


@dataclass(frozen=True)
class GAugM(RewiringMethod):
    """L_s on a graph without its `remove_share` · M least likely edges and with `add_share` · M likeliest new ones.

    M is the number of edges (undirected pairs). How likely a pair is says one draw of a variational graph
    auto-encoder, trained before the run with an optimiser of its own. Training, validation and test all see the
    changed graph. Runs go one after another: each has a graph of its own.
    """

    add_share: float = 0.5
    remove_share: float = 0.02
    encoder_hidden: int = 32
    encoder_width: int = 16
    encoder_epochs: int = 200
    encoder_learning_rate: float = 0.01

    def __post_init__(self) -> None:
        checks.number_in(self.add_share, "add_share", 0.0)
        checks.number_in(self.remove_share, "remove_share", 0.0, 1.0)
        checks.whole_number(self.encoder_hidden, "encoder_hidden", 1)
        checks.whole_number(self.encoder_width, "encoder_width", 1)
        checks.whole_number(self.encoder_epochs, "encoder_epochs", 0)
        checks.number_in(self.encoder_learning_rate, "encoder_learning_rate", 0.0, open_low=True)

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> RewiredLearner:
        """Train the auto-encoder, and change the graph by it."""
        graph = problem.graph
        units = UnitGraph.from_edge_index(graph.edge_index, graph.num_nodes)
        known = KnownPairs.of(units.unit_edges, graph.num_nodes)
        codes = variational_codes(
            graph,
            known,
            hidden=self.encoder_hidden,
            width=self.encoder_width,
            epochs=self.encoder_epochs,
            learning_rate=self.encoder_learning_rate,
            seed=seed,
        )
        added = likeliest_missing(codes, int(self.add_share * known.count), known)
        model = Rewired(backbone, graph, units, capacity=added.shape[1])
        model.rewire(self._kept(codes, units), added)
        return RewiredLearner(problem, model)

    def _kept(self, codes: Tensor, units: UnitGraph) -> Tensor:
        """All units but those of smallest score."""
        scores = (codes[units.unit_edges[0]] * codes[units.unit_edges[1]]).sum(1)
        kept = torch.ones_like(scores, dtype=torch.bool)
        kept[scores.argsort(stable=True)[: int(self.remove_share * units.num_units)]] = False
        return kept
