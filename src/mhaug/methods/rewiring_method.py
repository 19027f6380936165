"""What methods share that change the training graph: they predict on the changed edges too."""

from collections.abc import Mapping

from torch import Tensor

from mhaug.backbones.backbone import Backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.methods.method import Learner, Method
from mhaug.methods.parts.changed_edges import ChangedEdges


class RewiringMethod(Method):
    """A method whose learner is a `RewiredLearner`. Runs go one after another: each has a graph of its own."""

    side_by_side = False
    shared_draws = True

    def kept(self, learner: Learner, graph: GraphInput) -> dict[str, Tensor]:
        """The edges before and after, where any have changed."""
        changed = ChangedEdges.of(learner, graph.edge_index)
        return {} if changed is None else vars(changed)

    def predict(self, network: Backbone, graph: GraphInput, kept: Mapping[str, Tensor]) -> Tensor:
        """On the changed edges, where the training graph comes back; on other graphs as they are."""
        edges = ChangedEdges(**kept).replace(graph.edge_index) if kept else graph.edge_index
        return network(graph.with_edges(edges))
