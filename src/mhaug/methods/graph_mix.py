"""GraphMix (Verma et al. 2021): a fully-connected twin with the same weights, taught by manifold mixup."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from mhaug import checks
from mhaug.backbones.alone import bias_of, later_layers_alone, own_part, stack_of
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.features import drop_features
from mhaug.backbones.layer_stack import LayerStack
from mhaug.data.view import View
from mhaug.methods.draws import Draws
from mhaug.methods.method import Method, Problem, Step
from mhaug.methods.parts.mixup import NodeSet, Pairs, taken
from mhaug.methods.parts.ramp import sigmoid_ramp
from mhaug.objectives.objective import Losses
from mhaug.objectives.sharpening import sharpened_average
from mhaug.objectives.soft_labels import soft_label_loss
from mhaug.objectives.supervised import supervised_loss
from mhaug.per_replica import is_on

TAUGHT = ("in turn", "together")
TERMS = ("supervised", "mixed_labelled", "mixed_unlabelled")


@dataclass(frozen=True)
class GraphMix(Method):
    """Network: L_s on the graph. Twin: L_m(labelled) + w(t) L_m(unlabelled), mixed after the first layer's ReLU.

    L_m is binary cross-entropy against mixed targets; those of unlabelled nodes are the network's own predictions,
    averaged over `passes` with dropout and sharpened. As many unlabelled nodes as there are labelled ones are drawn
    each time. w(t) = γ exp(-5 (1 - x)²), x growing from 0 at update `ramp_start` to 1 at `ramp_end`.

    A fair coin says whose turn it is, as in the released code; the paper writes a sum (`taught="together"`). The
    twin is the network on nodes that are alone (`backbones/alone.py`). Predictions are the network's. The moving
    average of the weights that the release carries along predicts nothing, and is left out.
    """

    concentration: float = 1.0
    passes: int = 10
    temperature: float = 0.1
    consistency_weight: float = 10.0
    ramp_start: int = 500
    ramp_end: int = 1000
    taught: str = "in turn"

    def __post_init__(self) -> None:
        checks.number_in(self.concentration, "concentration", 0.0)
        checks.whole_number(self.passes, "passes", 1)
        checks.number_in(self.temperature, "temperature", 0.0, open_low=True)
        checks.number_in(self.consistency_weight, "consistency_weight", 0.0)
        checks.whole_number(self.ramp_start, "ramp_start", 0)
        checks.whole_number(self.ramp_end, "ramp_end", self.ramp_start)
        checks.one_of(self.taught, "taught", TAUGHT)

    side_by_side = True

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> "GraphMixLearner":
        """Start at update 0 of the ramp."""
        return GraphMixLearner(self, problem, backbone, seed=seed)


class GraphMixLearner:
    """Counts updates in a tensor; everything else that persists is fixed."""

    def __init__(self, method: GraphMix, problem: Problem, backbone: Backbone, *, seed: int) -> None:
        layers = stack_of(backbone)
        checks.require(len(layers) > 1, "layers", "at least 2 for graph-mix: it mixes hidden rows", len(layers))
        assert isinstance(backbone, LayerStack)
        self.model: LayerStack = backbone
        self._method, self._problem, self._first = method, problem, layers[0]
        self._draws = Draws(problem, backbone.replicas, seed, "graph mix")
        train = problem.train if backbone.replicas is None else problem.train.expand(backbone.replicas, -1)
        self._labelled, self._unlabelled = NodeSet.of(train), NodeSet.of(~train)
        # classes of the places that hold no labelled node are nobody's to see
        classes = problem.labels[self._labelled.members].where(self._labelled.real, 0)
        known = F.one_hot(classes, problem.task.num_classes).to(problem.graph.features.dtype)
        self._known = known.movedim(-2, 0)  # [n, C] or [n, R, C], as all rows here
        self._updates = torch.zeros((), dtype=torch.long, device=train.device)

    def step(self, max_proposals: int) -> Step:
        """Toss the coin; learn as the network or as its twin. Together, the coin is ignored."""
        self.model.train()
        coin, numbers = self._draws.uniform(5 + 3 * self._known.shape[0]).tensor_split([1], -1)
        twins_turn = coin.squeeze(-1) < 0.5
        if self._method.taught == "together" or self.model.replicas is not None:
            terms = {**self._network_terms(), **self._twin_terms(numbers)}
        else:
            own = self._twin_terms(numbers) if bool(twins_turn) else self._network_terms()
            terms = {name: own.get(name, self._known.new_zeros(())) for name in TERMS}
        step = self._draws.step(self._losses(terms, twins_turn))
        self._updates.add_(1)
        return step

    @torch.no_grad()
    def predict(self) -> Tensor:
        """The network, on the original graph."""
        self.model.eval()
        return self.model(self._problem.graph)

    def state_dict(self) -> dict[str, Tensor]:
        """Where the ramp stands, and the stream."""
        return {"updates": self._updates, "rng": self._draws.state()}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        self._updates.copy_(saved["updates"])
        self._draws.restore(saved["rng"])

    def _network_terms(self) -> dict[str, Tensor]:
        problem = self._problem
        return {"supervised": supervised_loss(self.model(problem.graph), problem.labels, problem.train)}

    def _twin_terms(self, numbers: Tensor) -> dict[str, Tensor]:
        """Both mixed losses; the sets are mixed each for itself, and pass through the twin as one."""
        size, real = self._known.shape[0], self._labelled.real
        pairs = Pairs.draw(self._labelled, self._unlabelled, numbers, concentration=self._method.concentration)
        guesses = taken(self._guesses().movedim(-2, 0), pairs.rows[..., size:])
        targets = pairs.mix(torch.cat([self._known, guesses]))
        logits = later_layers_alone(self.model, pairs.mix(self._hidden(pairs.rows)))
        sets = zip(TERMS[1:], logits.split(size), targets.split(size), strict=True)
        return {name: soft_label_loss(z.movedim(0, -2), t.movedim(0, -2), real) for name, z, t in sets}

    def _guesses(self) -> Tensor:
        """Sharpened mean prediction of every node over passes with dropout."""
        with torch.no_grad():
            logits = self.model.shared(self._problem.graph)
        passes = (logits(View()) for _ in range(self._method.passes))
        return sharpened_average(passes, self._method.temperature)

    def _hidden(self, rows: Tensor) -> Tensor:
        """What the twin's first layer gives for these nodes."""
        features, model = self._problem.graph.features, self.model
        if is_on(model.input_dropout):
            features = drop_features(features, model.input_dropout, model.replicas)
        product = taken(self._first.transform(features), rows)
        return (own_part(self._first, product) + bias_of(self._first)).relu()

    def _losses(self, terms: dict[str, Tensor], twins_turn: Tensor) -> Losses:
        method = self._method
        weight = method.consistency_weight * sigmoid_ramp(self._updates, method.ramp_start, method.ramp_end)
        network, twin = terms["supervised"], terms["mixed_labelled"] + weight * terms["mixed_unlabelled"]
        if method.taught == "together" or self.model.replicas is None:
            return Losses(network + twin, terms)
        # each replica has a coin of its own: both losses are worked out, and one of them counts
        counted = {name: term.where(twins_turn == (name != "supervised"), 0.0) for name, term in terms.items()}
        return Losses.either(twins_turn, twin, network, counted)
