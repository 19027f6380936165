"""Kernels of our own behind plain functions: Triton's on a GPU, numba's on a CPU. Elsewhere the torch code runs."""

import functools
from importlib.util import find_spec

import torch
from torch import Tensor

from mhaug.backbones.structure import Structure


def works_on(tensor: Tensor) -> bool:
    """Whether there are kernels for this tensor: on a CUDA device, where Triton is installed."""
    return tensor.is_cuda and _has("triton")


def works_on_cpu(by_head: Tensor) -> bool:
    """Whether there is a compiled attention for these rows: one network, [V, H, D], on a CPU that has numba."""
    known = by_head.device.type == "cpu" and by_head.dtype in (torch.float32, torch.float64)
    return known and by_head.dim() == 3 and _has("numba")


def multiplies(dense: Tensor) -> bool:
    """Whether there is a compiled product with this matrix, [columns, width], on a CPU that has numba."""
    if dense.device.type != "cpu" or dense.dtype not in (torch.float32, torch.float64) or not _has("numba"):
        return False
    from mhaug.backbones import compiled_product

    return compiled_product.fits(dense.shape[1])


def product(pointers: Tensor, columns: Tensor, values: Tensor, dense: Tensor) -> Tensor:
    """A·D for A in compressed rows."""
    from mhaug.backbones import compiled_product

    return compiled_product.product(pointers, columns, values, dense)


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


def attention_product(
    structure: Structure,
    kept: Tensor,
    by_head: Tensor,
    vectors: tuple[Tensor, Tensor],
    rate: float,
    slope: float,
    average: bool,
) -> Tensor:
    """See `attention.attention_product`."""
    from mhaug.backbones.compiled_attention import CompiledAttention

    mixed: Tensor = CompiledAttention.apply(structure, kept, by_head, *vectors, rate, slope, average)
    return mixed


@functools.cache
def _has(package: str) -> bool:
    return find_spec(package) is not None
