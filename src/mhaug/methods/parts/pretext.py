"""Link prediction as a pretext task: from the rows of two nodes, are they linked?"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from mhaug import checks
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pair_products import pair_products


class LinkPrediction:
    """Links of a graph against as many sampled pairs that are none, by the inner product of their rows.

    The decoder is σ(h_iᵀ h_j), without weights of its own. Links and other pairs weigh the same in total, which is
    the weight ω = others / links of the published loss; over all pairs the mean of the others would be exact, and
    needs V² numbers.
    """

    def __init__(self, edge_index: Tensor, num_nodes: int, *, negatives: int) -> None:
        self._known = KnownPairs.of(edge_index, num_nodes)
        checks.require(self._known.count > 0, "graph", "of at least one link, for links to be predicted", 0)
        self._links, self._num_nodes = self._known.index, num_nodes
        self._drawn = negatives * self._known.count

    def loss(self, rows: Tensor, *, uniform: Callable[[int], Tensor]) -> Tensor:
        """½ mean over links of -log σ(s) + ½ mean over other pairs of -log(1 - σ(s)), for rows [..., V, D].

        `uniform` gives so many random numbers in [0, 1); the pairs made of them serve all replicas.
        """
        pairs = (uniform(2 * self._drawn) * self._num_nodes).long().view(2, -1)
        # a drawn link, or a node with itself, counts as nothing, which keeps shapes fixed
        counted = ((pairs[0] != pairs[1]) & ~self._known.contains(pairs)).to(rows.dtype)
        by_node = rows.movedim(-2, 0)
        linked, drawn = pair_products(by_node, self._links), pair_products(by_node, pairs)
        others = torch.tensordot(counted, F.softplus(drawn), 1) / counted.sum().clamp(min=1.0)
        return 0.5 * (F.softplus(-linked).mean(0) + others)
