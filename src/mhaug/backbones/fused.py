"""The GPU's own kernels (Triton) behind two plain functions; everything else runs the readable torch code."""

import functools
from importlib.util import find_spec

from torch import Tensor

from mhaug.backbones.structure import Structure


def works_on(tensor: Tensor) -> bool:
    """Whether there are kernels for this tensor: on a CUDA device, where Triton is installed."""
    return tensor.is_cuda and _has_triton()


def spmm(structure: Structure, values: Tensor, dense: Tensor) -> Tensor:
    """See `Sparse`."""
    from mhaug.backbones import triton_product

    product: Tensor = triton_product.SparseProduct.apply(structure, values, dense)
    return product


def attention(structure: Structure, target: Tensor, source: Tensor, kept: Tensor, slope: float) -> Tensor:
    """See `attention.attention`."""
    from mhaug.backbones import triton_attention

    shares: Tensor = triton_attention.Attention.apply(structure, target, source, kept, slope)
    return shares


@functools.cache
def _has_triton() -> bool:
    return find_spec("triton") is not None
