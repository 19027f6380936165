"""GAug-O (Zhao et al. 2021): an edge predictor, trained together with the classifier on graphs drawn from it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug import checks
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.gcn import GCN
from mhaug.backbones.sage import SAGE
from mhaug.methods.method import Method, Problem, Step
from mhaug.methods.parts.auto_encoder import EdgePredictor, train_apart
from mhaug.methods.parts.edge_law import EdgeLaw
from mhaug.methods.parts.edge_sampling import Source
from mhaug.methods.parts.joint import Joint
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pair_sampler import PAIRS, PairSampler, found_by
from mhaug.methods.parts.reconstruction import Reconstruction
from mhaug.methods.parts.rewired import refuse_edge_features
from mhaug.objectives.objective import Losses
from mhaug.objectives.supervised import supervised_loss
from mhaug.rng import Streams, stream

TAKES_WEIGHTS = (GCN, SAGE)


@dataclass(frozen=True)
class GAugO(Method):
    """L = L_s(G') + β L_r, with G' drawn afresh from P = α S / max S + (1 - α) A at each update, S = Z Zᵀ.

    α is `predicted_share`, β `reconstruction_weight`, L_r the predictor's own loss, τ the `temperature` of the
    relaxed draw that carries the gradient of L_s to the predictor, straight through the hard one. GAT (and a user's
    own module) gets hard edges and sends no gradient, as in the released code: L_r alone trains the predictor there.

    The predictor is trained alone for `predictor_warmup` updates before the run, the classifier alone on the
    original graph for the first `classifier_warmup` updates of the run. Predictions are on the original graph.

    `pairs`: "all" looks at every pair, "proposed" at few, drawn in proportion to S, with the same P; "auto" looks at
    all up to 4,000 nodes. `absent_share` · M pairs that were not drawn stand for all such pairs in the gradient.
    `density_cap` · M bounds the expected number of new edges. Runs go one after another: the number of edges
    changes with every draw.

    Pairs have no direction: a known edge is drawn with all columns that it has, a new one runs in both directions.
    """

    predicted_share: float = 0.5
    reconstruction_weight: float = 1.0
    temperature: float = 1.0
    predictor_warmup: int = 150
    classifier_warmup: int = 30
    predictor_hidden: int = 128
    predictor_width: int = 32
    predictor_learning_rate: float = 0.01
    density_cap: float = 5.0
    pairs: str = "auto"
    absent_share: float = 5.0

    def __post_init__(self) -> None:
        checks.one_of(self.pairs, "pairs", PAIRS)
        checks.number_in(self.predicted_share, "predicted_share", 0.0, 1.0)
        for name in ("reconstruction_weight", "density_cap", "absent_share"):
            checks.number_in(getattr(self, name), name, 0.0)
        for name in ("temperature", "predictor_learning_rate"):
            checks.number_in(getattr(self, name), name, 0.0, open_low=True)
        for name in ("predictor_warmup", "classifier_warmup"):
            checks.whole_number(getattr(self, name), name, 0)
        for name in ("predictor_hidden", "predictor_width"):
            checks.whole_number(getattr(self, name), name, 1)

    side_by_side = False

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> "GAugOLearner":
        """Train the predictor alone; the rest happens in the run."""
        refuse_edge_features(backbone, problem.graph)
        return GAugOLearner(self, problem, backbone, seed=seed)

    def law(self) -> EdgeLaw:
        """P and its relaxation."""
        return EdgeLaw(self.predicted_share, self.temperature, self.density_cap)

    def sampler(self, source: Source) -> PairSampler:
        """Draws from these pairs, found as `pairs` asks."""
        return PairSampler(source, found_by(self.pairs, source), absent=round(self.absent_share * source.known.count))


class GAugOLearner:
    """The warm-up of the classifier, then both networks together."""

    def __init__(self, method: GAugO, problem: Problem, backbone: Backbone, *, seed: int) -> None:
        self._method, self._problem = method, problem
        graph, sizes = problem.graph, {"hidden": method.predictor_hidden, "width": method.predictor_width}
        device = graph.edge_index.device
        predictor = EdgePredictor(graph.num_features, **sizes, generator=stream(seed, "edge predictor"))
        self.model = Joint(backbone, predictor.to(device))
        known = KnownPairs.of(graph.edge_index, graph.num_nodes)
        self._rng = Streams(seed, "edge draws", count=1, device=device)
        self._reconstruction = Reconstruction(known, exact=None if method.pairs == "auto" else method.pairs == "all")
        weighted = isinstance(backbone, TAKES_WEIGHTS)
        self._sampler = method.sampler(Source(graph, known, method.law(), weighted, self._uniform))
        self._updates, self._known = 0, known
        self._warm_up()

    def step(self, max_proposals: int) -> Step:
        """The loss of the classifier alone, or of both on a drawn graph."""
        self.model.train()
        self._updates += 1
        if self._updates <= self._method.classifier_warmup:
            loss = self._supervised(self.model.backbone(self._problem.graph))
            terms = {"supervised": loss, "reconstruction": torch.zeros_like(loss)}
            return Step(Losses(loss, terms), info={"drawn_edges": float(self._known.count)})
        codes = self.model.predictor(self._problem.graph)
        drawn = self._sampler.draw(codes)
        supervised = self._supervised(self.model.backbone(drawn.graph, drawn.view))
        reconstruction = self._reconstruction(codes, uniform=self._uniform)
        total = supervised + self._method.reconstruction_weight * reconstruction
        terms = {"supervised": supervised, "reconstruction": reconstruction}
        return Step(Losses(total, terms), info={"drawn_edges": float(drawn.edges)})

    @torch.no_grad()
    def predict(self) -> Tensor:
        """On the original graph."""
        self.model.eval()
        logits: Tensor = self.model.backbone(self._problem.graph)
        return logits

    def state_dict(self) -> dict[str, Tensor]:
        """The updates made, the stream of the draws."""
        return {"updates": torch.tensor(self._updates), "rng": self._rng.state()}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        self._updates = int(saved["updates"])
        self._rng.restore(saved["rng"])

    def _warm_up(self) -> None:
        predictor, method = self.model.predictor, self._method
        train_apart(
            predictor,
            lambda: {"reconstruction": self._reconstruction(predictor(self._problem.graph), uniform=self._uniform)},
            name="edge predictor",
            epochs=method.predictor_warmup,
            learning_rate=method.predictor_learning_rate,
        )

    def _supervised(self, logits: Tensor) -> Tensor:
        return supervised_loss(logits, self._problem.labels, self._problem.train)

    def _uniform(self, size: int) -> Tensor:
        return self._rng.uniform(size)[0]
