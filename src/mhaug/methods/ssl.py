"""SSL (Zhu et al. 2020): the network also has to predict links, from a graph or features with parts hidden."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug import checks
from mhaug.augmentation.random_drop import RandomDrop
from mhaug.backbones.alone import stack_of
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.features import drop_features
from mhaug.backbones.layer_stack import LayerStack
from mhaug.methods.draws import Draws
from mhaug.methods.method import Method, Problem, Step
from mhaug.methods.parts.pretext import LinkPrediction
from mhaug.objectives.objective import Losses
from mhaug.objectives.supervised import supervised_loss
from mhaug.per_replica import is_on

FORMS = ("joint", "pre-train")


@dataclass(frozen=True)
class SSL(Method):
    """L = L_s(G) + κ_r L_link(removed links) + κ_c L_link(covered features); links are those of the whole graph.

    The rows that links are predicted from are those before the last layer. "joint" learns all at once. "pre-train"
    learns the pretext terms alone for the first `pretraining_updates`, and L_s alone from then on; until then the
    last layer waits as it is, and `patience` should be longer. The published sources give none of the numbers.
    """

    form: str = "joint"
    removal_rate: float = 0.2
    covering_rate: float = 0.2
    removal_weight: float = 0.5
    covering_weight: float = 0.5
    negatives: int = 1
    pretraining_updates: int = 100

    def __post_init__(self) -> None:
        checks.one_of(self.form, "form", FORMS)
        for name in ("removal_rate", "covering_rate"):
            checks.number_in(getattr(self, name), name, 0.0, 1.0)
        for name in ("removal_weight", "covering_weight"):
            checks.number_in(getattr(self, name), name, 0.0)
        rule = "above 0 where 'covering_weight' is 0: pre-training has no other loss"
        learns = self.form == "joint" or self.removal_weight > 0.0 or self.covering_weight > 0.0
        checks.require(learns, "removal_weight", rule, self.removal_weight)
        checks.whole_number(self.negatives, "negatives", 1)
        checks.whole_number(self.pretraining_updates, "pretraining_updates", 0)

    side_by_side = True

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> "SSLLearner":
        """Removed links have one stream, covered features and sampled pairs another."""
        return SSLLearner(self, problem, backbone, seed=seed)


class SSLLearner:
    """One product X·W serves the graph and the one with links removed; covered features need their own."""

    def __init__(self, method: SSL, problem: Problem, backbone: Backbone, *, seed: int) -> None:
        self.model = backbone
        # a network of one layer predicts links from its logits
        self._encoder_layers = max(1, len(stack_of(backbone)) - 1)
        assert isinstance(backbone, LayerStack)
        self._method, self._problem, self._network = method, problem, backbone
        data, graph = problem.task.graph, problem.graph
        self._removal = RandomDrop(data, edge_rate=method.removal_rate, seed=seed, replicas=backbone.replicas)
        self._draws = Draws(problem, backbone.replicas, seed, "pretext")
        self._links = LinkPrediction(graph.edge_index, graph.num_nodes, negatives=method.negatives)
        weights = {"removed_links": method.removal_weight, "covered_features": method.covering_weight}
        self._weights = {name: weight for name, weight in weights.items() if is_on(weight)}
        # a tensor, since Python's numbers stand still where steps are replayed as one CUDA graph
        self._updates = torch.zeros((), dtype=torch.long, device=problem.labels.device)

    def step(self, max_proposals: int) -> Step:
        """The losses that the form and the number of updates so far ask for."""
        network, graph = self._network, self._problem.graph
        network.train()
        warming = self._warming()
        product = network.products(graph)()
        supervised = supervised_loss(network.from_product(graph, product), self._problem.labels, self._problem.train)
        # side by side nobody asks, and both losses are always computed
        in_phases = warming is not None and network.replicas is None
        if in_phases and not bool(warming):
            idle = {name: torch.zeros_like(supervised) for name in self._weights}
            return self._draws.step(Losses(supervised, {"supervised": supervised, **idle}))
        terms = self._pretext(product)
        pretext = sum((weight * terms[name] for name, weight in self._weights.items()), torch.zeros_like(supervised))
        if warming is None:
            losses = Losses(supervised + pretext, {"supervised": supervised, **terms})
        elif in_phases:
            losses = Losses(pretext, {"supervised": supervised, **terms})
        else:
            counted = {name: warming * term for name, term in terms.items()}
            losses = Losses.either(warming, pretext, supervised, {"supervised": supervised, **counted})
        return self._draws.step(losses)

    @torch.no_grad()
    def predict(self) -> Tensor:
        """On the original graph and its whole features."""
        self._network.eval()
        return self._network(self._problem.graph)

    def state_dict(self) -> dict[str, Tensor]:
        """The number of updates, and where both streams stand."""
        removal = {f"removal.{name}": value for name, value in self._removal.state_dict().items()}
        return {"updates": self._updates, "rng": self._draws.state(), **removal}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there, in the same tensors."""
        self._updates.copy_(saved["updates"])
        self._draws.restore(saved["rng"])
        self._removal.load_state_dict({name: saved[f"removal.{name}"] for name in self._removal.state_dict()})

    def _warming(self) -> Tensor | None:
        """Whether this update is one of pre-training, bool []; None where there is none."""
        if self._method.form == "joint":
            return None
        warming = self._updates < self._method.pretraining_updates
        self._updates += 1
        return warming

    def _pretext(self, product: Tensor) -> dict[str, Tensor]:
        """L_link with links removed, and with features covered; what is not covered is scaled up, as in dropout."""
        network, graph, terms = self._network, self._problem.graph, {}
        if "removed_links" in self._weights:
            view = self._removal.propose(None).current
            rows = network.from_product(graph, product, view, layers=self._encoder_layers)
            terms["removed_links"] = self._links.loss(rows, uniform=self._draws.common)
        if "covered_features" in self._weights:
            rate, word = self._method.covering_rate, self._draws.word()
            covered = drop_features(graph.features, rate, network.replicas, word=word)
            rows = network.from_product(graph, network.first_product(covered), layers=self._encoder_layers)
            terms["covered_features"] = self._links.loss(rows, uniform=self._draws.common)
        return terms
