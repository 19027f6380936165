"""A perturbation R of the node features, in coordinates of which there are few: R = Y·Uᵀ.

Of R a network sees R·W alone, W the weights of its first layer. In the space "product" the columns of U are an
orthonormal basis of those of W, so that Y [V, D] holds all of R that can be seen, and |R| = |Y|; what is left out
could only make R longer. A normal R has a normal Y, and a gradient in Y is the gradient in R. So nothing of the size
of the dense features [V, F] is ever made. In the space "features" U is the identity, and Y is R itself.
"""

import torch
from torch import Tensor

from mhaug import checks
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.layer_stack import LayerStack
from mhaug.backbones.sparse import Sparse
from mhaug.backbones.structure import arrange

SPACES = ("product", "features")
_ROUNDS = 15  # weights of 1/300 of |W| are still brought to length 1; more rounds would blow up rounding errors


class Perturbation:
    """The coordinates of R for one network, as its weights are now. Y is [V, M], or [V, R, M] for replicas."""

    def __init__(self, backbone: LayerStack, graph: GraphInput, *, space: str) -> None:
        checks.one_of(space, "space", SPACES)
        every = torch.arange(graph.num_features, device=graph.edge_index.device)
        structure, _ = arrange(every, every, (graph.num_features, graph.num_features))
        # linear layers give their weights away when they are asked about the identity
        self._identity = Sparse(structure, torch.ones_like(every, dtype=graph.features.dtype))
        self._backbone = backbone
        with torch.no_grad():
            visible = self._weight().shape[-1]
        # with fewer features than outputs the features are the smaller coordinates
        self._rotated = space == "product" and visible < graph.num_features
        copies = () if backbone.replicas is None else (backbone.replicas,)
        self.shape = (graph.num_nodes, *copies, visible if self._rotated else graph.num_features)

    def seen(self) -> Tensor:
        """UᵀW, [M, D] or [R, M, D]: Y times this is R·W. The gradient flows to W, and not to U."""
        weight = self._weight()
        return orthonormal(weight.detach()).mT @ weight if self._rotated else weight

    def _weight(self) -> Tensor:
        """W, [F, D] or [R, F, D]."""
        weight = self._backbone.first_product(self._identity)
        return weight if self._backbone.replicas is None else weight.transpose(0, 1)


def orthonormal(weight: Tensor) -> Tensor:
    """U of W = U·(WᵀW)^½, [..., F, D]: the orthonormal columns nearest to those of W. Directions that W lacks are 0.

    Newton's iteration for (WᵀW)^(-½), made of products alone: a GPU never waits, as it would for a decomposition.
    Very weak directions of W come out shorter than 1, and none longer.
    """
    gram = weight.mT @ weight
    one = torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    # the trace bounds the largest eigenvalue, within which the iteration converges
    size = gram.diagonal(dim1=-2, dim2=-1).sum(-1)[..., None, None].clamp(min=torch.finfo(gram.dtype).tiny)
    root, inverse = gram / size, one
    for _ in range(_ROUNDS):
        change = 1.5 * one - 0.5 * (inverse @ root)
        root, inverse = root @ change, change @ inverse
    return weight @ inverse * size.rsqrt()
