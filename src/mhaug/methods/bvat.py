"""BVAT (Deng et al. 2019): predictions should hold under the worst small perturbation of the features."""

from dataclasses import dataclass

import torch
from torch import Tensor

from mhaug import checks
from mhaug.backbones.alone import stack_of
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.layer_stack import LayerStack
from mhaug.backbones.linear import linear
from mhaug.methods.draws import Draws
from mhaug.methods.method import Method, Problem, Step
from mhaug.methods.parts.adversaries import Adversary, OptimisedNoise, PowerIteration
from mhaug.methods.parts.far_apart import far_apart
from mhaug.methods.parts.perturbation import SPACES, Perturbation
from mhaug.objectives.consistency import kl_divergence
from mhaug.objectives.objective import Losses, ViewLogits, total_loss
from mhaug.per_replica import is_on

VARIANTS = ("optimised", "sampled")


@dataclass(frozen=True)
class BVAT(Method):
    """L = L_s(G) + α mean_i KL[sg f(X)_i ‖ f(X + R)_i] + β mean_i H(f(X)_i); R from predictions alone, no label.

    "optimised": R of all nodes by `ascent_steps` steps of Adam from noise, on (w/2)·|R|² - mean KL; all nodes count.
    "sampled": R by power iterations, for at most `nodes` nodes whose fields of `reach` hops do not overlap, which
    alone count. The released code has a cross-entropy for the KL, which has the same gradient. `space` is where R
    lives (`perturbation.py`): "product" needs V × hidden numbers, "features" is the letter of the paper. In single
    precision a `probe_length` far below 1e-4 is lost in rounding; the released code has 1e-6.
    """

    variant: str = "optimised"
    adversarial_weight: float = 1.4
    sharpness_weight: float = 0.7
    space: str = "product"
    ascent_steps: int = 10
    ascent_rate: float = 0.001
    noise: float = 0.01
    length_weight: float = 1.0
    nodes: int = 100
    reach: int = 2
    length: float = 0.03
    probe_length: float = 1e-4
    power_iterations: int = 1

    def __post_init__(self) -> None:
        checks.one_of(self.variant, "variant", VARIANTS)
        checks.one_of(self.space, "space", SPACES)
        for name in ("adversarial_weight", "sharpness_weight", "ascent_rate", "noise", "length_weight", "length"):
            checks.number_in(getattr(self, name), name, 0.0)
        checks.number_in(self.probe_length, "probe_length", 0.0, open_low=True)
        checks.whole_number(self.ascent_steps, "ascent_steps", 0)
        for name in ("nodes", "reach", "power_iterations"):
            checks.whole_number(getattr(self, name), name, 1)

    side_by_side = True

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> "BVATLearner":
        """Noise, first directions and the nodes that count are drawn; masks of dropout are the network's."""
        return BVATLearner(self, problem, backbone, seed=seed)

    def adversary(self, perturbation: Perturbation, like: Tensor) -> Adversary:
        """The search of this variant."""
        if self.variant == "sampled":
            lengths = {"probe_length": self.probe_length, "length": self.length}
            return PowerIteration(iterations=self.power_iterations, **lengths)
        return OptimisedNoise(
            perturbation.shape,
            like,
            steps=self.ascent_steps,
            rate=self.ascent_rate,
            noise=self.noise,
            length_weight=self.length_weight,
        )


class BVATLearner:
    """Clean pass, search for R with the weights held fixed, perturbed pass: (X + R)·W = X·W + R·W, X stays sparse."""

    def __init__(self, method: BVAT, problem: Problem, backbone: Backbone, *, seed: int) -> None:
        self.model = backbone
        self._method, self._problem = method, problem
        stack_of(backbone)
        assert isinstance(backbone, LayerStack)
        self._network = backbone
        self._perturbation = Perturbation(backbone, problem.graph, space=method.space)
        self._draws = Draws(problem, backbone.replicas, seed, "adversary")
        self._adversary = method.adversary(self._perturbation, next(backbone.parameters()))

    def step(self, max_proposals: int) -> Step:
        """The losses on the graph and on its perturbed features."""
        self._network.train()
        graph, network, method = self._problem.graph, self._network, self._method
        product = network.products(graph)
        clean = network.from_product(graph, product())
        logits = ViewLogits(original=clean)
        weight = method.sharpness_weight
        known = total_loss(
            logits, self._problem.labels, self._problem.train, sharpness_weight=weight, supervised_on="original"
        )
        if not is_on(method.adversarial_weight):
            return self._draws.step(known)
        reference, seen, nodes = clean.detach(), self._perturbation.seen(), self._nodes()
        fixed = seen.detach()

        def divergence(coordinates: Tensor) -> Tensor:
            perturbed = network.from_product(graph, product().detach() + linear(coordinates, fixed))
            return kl_divergence(reference, perturbed)

        found = self._adversary.find(divergence, nodes, self._numbers(like=seen))
        moved = kl_divergence(reference, network.from_product(graph, product() + linear(found, seen)))
        agreement = moved.mean(-1) if nodes is None else moved.where(nodes, 0.0).sum(-1) / nodes.sum(-1)
        total = known.total + method.adversarial_weight * agreement
        return self._draws.step(Losses(total, {**known.terms, "adversarial": agreement}))

    @torch.no_grad()
    def predict(self) -> Tensor:
        """On the original graph and its clean features."""
        self._network.eval()
        return self._network(self._problem.graph)

    def state_dict(self) -> dict[str, Tensor]:
        """What the search carries from update to update, and the stream."""
        return {"rng": self._draws.state(), **self._adversary.state_dict()}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there, in the same tensors."""
        for name, value in self._adversary.state_dict().items():
            value.copy_(saved[name])
        self._draws.restore(saved["rng"])

    def _nodes(self) -> Tensor | None:
        """Who counts, bool [V] or [R, V]; None: everyone."""
        if self._method.variant == "optimised":
            return None
        structure, alone = self._problem.graph.connections.with_self.structure, self._network.replicas is None
        limits = {"reach": self._method.reach, "most": self._method.nodes}
        return far_apart(structure, self._draws.by_node(structure.shape[0]), **limits, ask=alone).movedim(0, -1)

    def _numbers(self, like: Tensor) -> Tensor:
        nodes, *_, width = self._perturbation.shape
        return self._draws.by_node(nodes, width).to(like.dtype).contiguous()
