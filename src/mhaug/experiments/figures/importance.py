"""The target without a chain: independent draws from something simple, weighted by how likely they are under P.

The proposal is a mixture of products: a component is drawn, and then every edge is dropped independently at the rate
that the component has for it. Its probability is a plain sum. Rates and weights are fitted in pilot rounds (one step
of expectation maximisation each); the draws that count are fresh. The effective size 1 / Σ w² says what they are
worth.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mhaug.rng import stream
from mhaug.sampling.target import EgoTarget

COMPONENTS, PILOTS, BATCH = 24, 6, 10_000
LOWEST, HIGHEST = 0.005, 0.7  # rates that the first components lie between


class Weighted(NamedTuple):
    """Draws, and the share of P that each stands for."""

    dropped: Tensor  # bool [draws, M]
    shares: Tensor  # float64 [draws], sum 1

    @property
    def effective(self) -> float:
        """How many draws from P itself would tell as much."""
        return float(1.0 / self.shares.square().sum())

    def mean(self, values: Tensor) -> Tensor:
        """The mean under P of values [draws, ...]."""
        return torch.tensordot(self.shares, values.double(), 1)

    def error(self, values: Tensor) -> Tensor:
        """The standard error of `mean`."""
        return torch.tensordot(self.shares.square(), (values.double() - self.mean(values)).square(), 1).sqrt()


@dataclass(frozen=True)
class ProductMixture:
    """Edges dropped independently, at the rates of one of several components."""

    weights: Tensor  # float64 [K]
    logits: Tensor  # float64 [K, M]: of the rates

    @classmethod
    def start(cls, units: int) -> "ProductMixture":
        """All edges alike; one component for each of several rates."""
        rates = torch.logspace(math.log10(LOWEST), math.log10(HIGHEST), COMPONENTS, dtype=torch.float64)
        weights = torch.full((COMPONENTS,), 1.0 / COMPONENTS, dtype=torch.float64)
        return cls(weights, rates.logit().unsqueeze(1).repeat(1, units))

    def draw(self, count: int, *, rng: torch.Generator) -> Tensor:
        """Dropped edges, bool [count, M]."""
        component = torch.multinomial(self.weights, count, replacement=True, generator=rng)
        uniform = torch.rand(count, self.logits.shape[1], dtype=torch.float64, generator=rng)
        return uniform < self.logits.sigmoid()[component]

    def each_log_prob(self, dropped: Tensor) -> Tensor:
        """log of component's weight times its probability of the draw, [draws, K]."""
        none = -torch.nn.functional.softplus(self.logits).sum(1)
        return dropped.double() @ self.logits.T + none + self.weights.log()

    def fitted(self, draws: Weighted) -> "ProductMixture":
        """One step of expectation maximisation, held back a little towards what was before."""
        owned = self.each_log_prob(draws.dropped).softmax(1) * draws.shares.unsqueeze(1)
        total = owned.sum(0)
        before = 0.02 * total.mean()
        rates = (owned.T @ draws.dropped.double() + before * self.logits.sigmoid()) / (total + before).unsqueeze(1)
        weights = (total + 0.1 / len(total)) / 1.1
        return ProductMixture(weights, rates.clamp(1e-5, 1 - 1e-5).logit())


def importance_draws(target: EgoTarget, draws: int, *, seed: int) -> Weighted:
    """Weighted draws from the target of the edges, with ε = 0."""
    rng = stream(seed, "importance")
    mixture = ProductMixture.start(target.units)
    for _ in range(PILOTS):
        mixture = mixture.fitted(_weighted(target, mixture, min(draws, 2 * BATCH), rng))
    return _weighted(target, mixture, draws, rng)


def _weighted(target: EgoTarget, mixture: ProductMixture, draws: int, rng: torch.Generator) -> Weighted:
    dropped, logs = [], []
    for first in range(0, draws, BATCH):
        batch = mixture.draw(min(BATCH, draws - first), rng=rng)
        dropped.append(batch)
        logs.append(log_prob(target, batch) - mixture.each_log_prob(batch).logsumexp(1))
    return Weighted(torch.cat(dropped), torch.cat(logs).softmax(0))


def log_prob(target: EgoTarget, dropped: Tensor) -> Tensor:
    """log P of dropped edges [..., M], with ε = 0, from scratch."""
    entropy = torch.zeros(len(target.original), dtype=torch.float64)
    return target.log_prob(target.statistics(~dropped), entropy)
