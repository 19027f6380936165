"""What every backbone promises: logits for one view of a graph, or for several views at once."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from mhaug.backbones.graph_input import GraphInput
from mhaug.data.view import View

WHOLE = View()


class Backbone(nn.Module, ABC):
    """A network from a graph and a view of it to logits [V, C].

    Dropout draws from torch's global generator, freshly for each view. Initialisation draws from `rng` (where
    None, from the global generator too). A stack of R networks (`replicas.py`) gives [R, V, C].
    """

    replicas: int | None = None
    gives_first_rows = False  # whether layers can mix for the first nodes alone (`connect`)
    reads_received = False  # whether a view of a batch must say what nodes receive in the whole graph

    @property
    def hops(self) -> int | None:
        """How many hops away a node can be that a row of the logits depends on, or more; None: nobody can say."""
        return None

    @abstractmethod
    def shared(self, graph: GraphInput) -> Callable[[View], Tensor]:
        """A function from views to logits [V, C]: what one call per view gives, but shared work is done once."""

    def forward(self, graph: GraphInput, view: View = WHOLE) -> Tensor:
        """Logits [V, C] of one view; without a view, of the graph itself."""
        return self.shared(graph)(view)

    def views(self, graph: GraphInput, views: Sequence[View]) -> list[Tensor]:
        """Logits [V, C] of each view."""
        return list(map(self.shared(graph), views))

    @abstractmethod
    def reset_parameters(self, rng: torch.Generator | None = None) -> None:
        """Draw all parameters anew."""
