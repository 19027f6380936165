"""A network together with the changed graph that it learns and predicts on."""

from functools import cached_property

import torch
from torch import Tensor, nn

from mhaug import checks
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.pyg_module import PyGModule
from mhaug.methods.method import Problem, Step
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.objectives.objective import Losses
from mhaug.objectives.supervised import supervised_loss
from mhaug.sampling.subgraph import UnitGraph

NONE = -1  # fills the places of `added` that are not used


class Rewired(nn.Module):
    """The original graph without some of its edges and with some new ones, and a network on it.

    Which edges those are is saved and loaded with the weights: the best weights of a run never meet the graph of
    another moment. Removed are whole units (undirected pairs, or columns of a directed graph); a new pair runs in
    both directions. Self-loops of the input stay.
    """

    kept: Tensor  # bool [units]
    added: Tensor  # long [2, capacity]

    def __init__(self, backbone: Backbone, original: GraphInput, units: UnitGraph, *, capacity: int) -> None:
        super().__init__()
        refuse_edge_features(backbone, original)
        self.backbone, self.units, self._original = backbone, units, original
        device = original.edge_index.device
        self.register_buffer("kept", torch.ones(units.num_units, dtype=torch.bool, device=device))
        self.register_buffer("added", torch.full((2, capacity), NONE, device=device))
        self.register_load_state_dict_post_hook(lambda module, _: module.forget())

    @property
    def added_pairs(self) -> Tensor:
        """The new pairs, [2, P]."""
        return self.added[:, self.added[0] != NONE]

    @property
    def pairs(self) -> KnownPairs:
        """All pairs of the changed graph."""
        units = self.units.unit_edges[:, self.kept]
        return KnownPairs.of(torch.cat([units, self.added_pairs], 1), self.units.num_nodes)

    def rewire(self, kept: Tensor, added: Tensor) -> None:
        """From now on these units of the original are kept, and these pairs are added."""
        self.kept.copy_(kept)
        self.added.fill_(NONE)
        self.added[:, : added.shape[1]] = added
        self.forget()

    def forget(self) -> None:
        """The edges have changed: the graph is made anew when it is next asked for."""
        self.__dict__.pop("graph", None)

    @cached_property
    def graph(self) -> GraphInput:
        """The changed graph as the backbones read it."""
        added, original = self.added_pairs, self._original
        if added.shape[1] == 0 and bool(self.kept.all()):
            return original
        columns = original.edge_index[:, self.units.column_kept(self.kept)]
        edge_index = torch.cat([columns, added, added.flip(0)], 1)
        return original.with_edges(edge_index)

    def forward(self) -> Tensor:
        """Logits [V, C] on the changed graph."""
        logits: Tensor = self.backbone(self.graph)
        return logits


class RewiredLearner:
    """L_s on the changed graph, which predictions are made on too."""

    def __init__(self, problem: Problem, model: Rewired) -> None:
        self.model, self._problem = model, problem

    def step(self, max_proposals: int) -> Step:
        """The loss on the changed graph."""
        self.model.train()
        loss = supervised_loss(self.model(), self._problem.labels, self._problem.train)
        removed, added = (~self.model.kept).sum(), self.model.added_pairs.shape[1]
        info = {"removed_pairs": float(removed), "added_pairs": float(added)}
        return Step(Losses(loss, {"supervised": loss}), info=info)

    @torch.no_grad()
    def predict(self) -> Tensor:
        """On the changed graph."""
        self.model.eval()
        logits: Tensor = self.model()
        return logits

    def state_dict(self) -> dict[str, Tensor]:
        """Nothing: the graph is saved with the weights."""
        return {}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Nothing to put back."""


def refuse_edge_features(backbone: Backbone, graph: GraphInput) -> None:
    """New edges have no weights or attributes, which a user's own module may ask for."""
    for name in backbone.edge_inputs if isinstance(backbone, PyGModule) else ():
        rule = "None, or not taken by the module, where a method adds edges"
        value = getattr(graph, name)
        checks.require(value is None, name, rule, None if value is None else f"values of {value.shape[0]} edges")
