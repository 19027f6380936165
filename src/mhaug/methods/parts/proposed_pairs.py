"""Which pairs are edges of a drawn graph, by proposals in proportion to the score: no look at every pair."""

import math

import torch
from torch import Tensor

from mhaug.methods.parts.edge_law import Scale
from mhaug.methods.parts.edge_sampling import Source
from mhaug.methods.parts.pair_products import gathered_products

NEARLY_SURE = 0.98  # a new edge is drawn with no more than about this probability


class ProposedPairs:
    """Each pair is drawn with the probability of the law; time and memory grow with the edges drawn, not with V².

    Known edges have a draw each. For the others N ordered pairs are proposed in proportion to z_u · z_v, which is
    Σ_d z_ud z_vd: a coordinate d in proportion to (Σ_u z_ud)², then u and v, each in proportion to its z_·d. A pair
    is among them with probability m = 1 - (1 - q)^N, q = 2 z_u · z_v / |Σ z|², and stays with P / m; N is such that
    P ≤ m. Two pairs are not quite independent, since N is fixed.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    def __call__(self, codes: Tensor, scale: Scale) -> tuple[Tensor, Tensor]:
        """The pairs drawn, [2, P], and their noise."""
        source, known = self._source, self._source.known.index
        chance = source.law.probability(
            gathered_products(codes, known), torch.ones_like(known[0], dtype=torch.bool), scale
        )
        noise = source.uniform(chance.shape[0]).to(chance.dtype)
        drawn = noise < chance
        new, new_noise = self._new(codes, scale)
        return torch.cat([known[:, drawn], new], 1), torch.cat([noise[drawn], new_noise])

    def _new(self, codes: Tensor, scale: Scale) -> tuple[Tensor, Tensor]:
        nodes, total = codes.shape[0], codes.double().sum(0).square().sum()
        largest = min(float(scale.others * codes.square().sum(1).max()), NEARLY_SURE)
        if not (largest > 0.0 and bool(total.isfinite())):  # codes that are not finite are for the loss to report
            return self._source.known.index[:, :0], codes.new_empty(0)
        # 1 - exp(-a P), concave in P, is at least P up to the largest P since it is there
        often = -math.log1p(-largest) / largest
        ends = self._ends(codes, math.ceil(often * float(scale.others * total) / 2.0))
        keys = (ends.amin(0) * nodes + ends.amax(0))[ends[0] != ends[1]].unique()
        pairs = torch.stack([keys // nodes, keys % nodes])
        pairs = pairs[:, ~self._source.known.contains(pairs)]
        scores = gathered_products(codes, pairs)
        met = -torch.expm1(ends.shape[1] * torch.log1p(-2.0 * scores / total))
        chance = torch.minimum(scores * scale.others, met)
        # given that a pair is proposed and stays, its noise is even on [0, P)
        noise = self._source.uniform(pairs.shape[1]) * met
        stays = noise < chance
        return pairs[:, stays], noise[stays].to(codes.dtype)

    def _ends(self, codes: Tensor, count: int) -> Tensor:
        """So many ordered pairs, u = v among them, in proportion to z_u · z_v, [2, count]."""
        nodes, width = codes.shape
        # on the CPU, since sums along a GPU's tensor are not the same bits every time
        weights = codes.t().double().cpu()
        places = weights.flatten().cumsum(0)
        ends = places.view(width, nodes)[:, -1]
        starts = torch.cat([ends.new_zeros(1), ends[:-1]])
        shares = (ends - starts).square().cumsum(0)
        places, ends, starts, shares = (each.to(codes.device) for each in (places, ends, starts, shares))
        draws = self._source.uniform(3 * count).view(3, count)
        at = torch.searchsorted(shares, draws[0] * shares[-1], right=True).clamp(max=width - 1)
        inside = starts[at] + draws[1:] * (ends - starts)[at]
        found = torch.searchsorted(places, inside, right=True) - at * nodes
        return found.clamp(0, nodes - 1)
