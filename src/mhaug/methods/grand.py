"""GRAND (Feng et al. 2020): random propagation, and sharpened agreement between several draws of it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug import checks
from mhaug.backbones.alone import bias_of, later_layers_alone, own_part, stack_of
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.features import drop_features
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.layer_stack import LayerStack
from mhaug.backbones.propagation import mixed_order
from mhaug.methods.draws import Draws
from mhaug.methods.method import Method, Problem, Step
from mhaug.objectives.log_softmax import log_softmax
from mhaug.objectives.objective import Losses
from mhaug.objectives.sharpening import sharpened_average
from mhaug.objectives.supervised import supervised_loss
from mhaug.per_replica import aligned, is_on

CLASSIFIERS = ("mlp", "backbone")


@dataclass(frozen=True)
class Grand(Method):
    """L = (1/S) Σ_s L_s(p^s) + λ (1/S) Σ_s (1/V) Σ_i ‖p_i^s - sg sharp_T(p̄_i)‖², p̄ the mean of S passes.

    Each pass drops nodes (m_i = 0 with probability δ, else 1), propagates what is left, X̄ = mean_{k≤K} Â^k (m ⊙ X),
    and classifies the rows of X̄. Every node is in the second term. Propagation is the same for all backbones; what
    classifies is the backbone's layers, without messages between nodes ("mlp", the paper's network) or with them
    ("backbone", its variants named after GCN and GAT). Predictions take the mean mask, m_i = 1 - δ, as the released
    code does; the paper scales by 1 / (1 - δ) in training instead, which asks for smaller weights of the first layer.

    The network's input dropout acts on X, before propagation, where X is sparse; the released code drops from X̄.
    Weights start as the backbone's do: the release draws them around -1/√d, by a slip.
    """

    node_rate: float = 0.5
    order: int = 8
    passes: int = 4
    temperature: float = 0.5
    consistency_weight: float = 1.0
    classifier: str = "mlp"

    def __post_init__(self) -> None:
        checks.number_in(self.node_rate, "node_rate", 0.0, 1.0)
        checks.require(self.node_rate < 1.0, "node_rate", "below 1: some nodes must stay", self.node_rate)
        checks.whole_number(self.order, "order", 0)
        checks.whole_number(self.passes, "passes", 1)
        checks.number_in(self.temperature, "temperature", 0.0, open_low=True)
        checks.number_in(self.consistency_weight, "consistency_weight", 0.0)
        checks.one_of(self.classifier, "classifier", CLASSIFIERS)

    side_by_side = True

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> "GrandLearner":
        """Learn from several random propagations a step."""
        return GrandLearner(self, problem, backbone, seed=seed)

    def predict(self, network: Backbone, graph: GraphInput, kept: Mapping[str, Tensor]) -> Tensor:
        """From the whole graph, propagated without drops."""
        return self.logits(network, graph)[0]

    def logits(self, network: Backbone, graph: GraphInput, scale: Tensor | None = None) -> Tensor:
        """Logits [S, V, C] ([S, R, V, C]) of S passes with rows scaled by `scale`, [V, S] ([V, S, R]).

        Without a scale, those of one pass over the whole graph, each row times 1 - δ.
        """
        first, *_ = stack_of(network)
        assert isinstance(network, LayerStack)
        passes = 1 if scale is None else scale.shape[1]
        if network.training and is_on(network.input_dropout):
            dropped = [drop_features(graph.features, network.input_dropout, network.replicas) for _ in range(passes)]
            rows = torch.stack([first.transform(features) for features in dropped], 1)
        else:
            rows = first.transform(graph.features).unsqueeze(1)
        if self.classifier == "mlp":
            rows = own_part(first, rows)
        rows = rows * (1.0 - aligned(self.node_rate, 1) if scale is None else scale.unsqueeze(-1))
        rows = mixed_order(graph, rows, self.order)  # [V, S, D] or [V, S, R, D]
        if self.classifier == "backbone":
            return torch.stack([network.from_product(graph, row) for row in rows.unbind(1)])
        return _without_messages(network, rows + bias_of(first))

    def loss(self, logits: Tensor, labels: Tensor, nodes: Tensor) -> Losses:
        """The loss above, of the logits of all passes."""
        supervised = supervised_loss(logits, labels, nodes).mean(0)
        targets = sharpened_average(logits, self.temperature)
        distance = torch.stack([(log_softmax(one).exp() - targets).square().sum(-1) for one in logits])
        agreement = distance.mean(-1).mean(0)
        total = supervised + self.consistency_weight * agreement
        return Losses(total, {"supervised": supervised, "consistency": agreement})


class GrandLearner:
    """Nothing is kept from step to step but the stream of masks."""

    def __init__(self, method: Grand, problem: Problem, backbone: Backbone, *, seed: int) -> None:
        stack_of(backbone)
        self.model = backbone
        self._method, self._problem = method, problem
        self._draws = Draws(problem, backbone.replicas, seed, "grand")

    def step(self, max_proposals: int) -> Step:
        """S passes, one loss."""
        self.model.train()
        logits = self._method.logits(self.model, self._problem.graph, self._scale())
        losses = self._method.loss(logits, self._problem.labels, self._problem.train)
        return self._draws.step(losses)

    @torch.no_grad()
    def predict(self) -> Tensor:
        """From the whole graph, propagated without drops."""
        self.model.eval()
        return self._method.predict(self.model, self._problem.graph, {})

    def state_dict(self) -> dict[str, Tensor]:
        """The stream of masks."""
        return {"rng": self._draws.state()}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        self._draws.restore(saved["rng"])

    def _scale(self) -> Tensor:
        """m of each pass, [V, S] or [V, S, R]."""
        passes, graph = self._method.passes, self._problem.graph
        numbers = self._draws.uniform(passes * graph.num_nodes).unflatten(-1, (passes, -1)).movedim(-1, 0)
        if numbers.dim() > 2:
            numbers = numbers.transpose(1, 2)
        return (numbers >= self._method.node_rate).to(graph.features.dtype)  # rates of replicas: [R], the last axis


def _without_messages(network: LayerStack, hidden: Tensor) -> Tensor:
    """Row by row. One network takes rows of one axis; replicas take what they get."""
    if network.replicas is not None:
        return later_layers_alone(network, hidden).movedim(0, -2)
    return later_layers_alone(network, hidden.flatten(0, 1)).unflatten(0, hidden.shape[:2]).movedim(0, -2)
