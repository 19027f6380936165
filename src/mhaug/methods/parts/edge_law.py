"""With what probability GAug-O draws each pair as an edge, and draws that a gradient can pass through."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from mhaug.methods.parts.known_pairs import KnownPairs


class Scale(NamedTuple):
    """What a score is multiplied by where there is an edge, α / max S, and where there is none, α c / max S."""

    edges: Tensor
    others: Tensor


@dataclass(frozen=True)
class EdgeLaw:
    """P_uv = α c_uv z_u · z_v / max S + (1 - α) A_uv, with α `predicted_share` and S = Z Zᵀ, Z ≥ 0.

    max S needs no look at the pairs: no product of two codes is larger than the largest |z|². Nor does a bound on
    the expected number of new edges, Σ_(u<v) z_u · z_v = (|Σ z|² - Σ |z|²) / 2. The scores are no calibrated
    probabilities, and nothing else would keep that number from growing with V²: c_uv = 1 on edges, and on all
    others one c ≤ 1 keeps it below `density_cap` · M. Both are part of the gradient. P does not change when all codes
    are doubled; with either held fixed, the gradient would shrink them to nothing all the same.
    """

    predicted_share: float
    temperature: float
    density_cap: float

    def scale(self, codes: Tensor, known: KnownPairs) -> Scale:
        """α / max S, and the same times c."""
        lengths = codes.square().sum(1)
        share = self.predicted_share / lengths.max().clamp(min=torch.finfo(codes.dtype).tiny)
        expected = share * (codes.sum(0).square().sum() - lengths.sum()) / 2.0
        return Scale(share, share * (self.density_cap * known.count / expected.clamp(min=1.0)).clamp(max=1.0))

    def probability(self, scores: Tensor, is_edge: Tensor, scale: Scale) -> Tensor:
        """P of pairs with these scores."""
        return scores * torch.where(is_edge, scale.edges, scale.others) + (1.0 - self.predicted_share) * is_edge

    def relaxed(self, probability: Tensor, noise: Tensor) -> Tensor:
        """σ((logit P - logit ε) / τ) with ε uniform on [0, 1): above ½ where ε < P, where an edge is drawn."""
        tiny = torch.finfo(probability.dtype).eps
        inside = [number.clamp(tiny, 1.0 - tiny).logit() for number in (probability, noise)]
        return ((inside[0] - inside[1]) / self.temperature).sigmoid()


def slope_only(relaxed: Tensor) -> Tensor:
    """Nothing forward, the gradient of `relaxed` backward: what straight-through adds to a hard 0 or 1."""
    return relaxed - relaxed.detach()
