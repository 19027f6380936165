"""Sparse × dense on a fixed structure, with the backward pass through the stored transpose."""

import functools
import warnings
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from mhaug.backbones.features import Features, SparseFeatures
from mhaug.backbones.structure import Structure


def spmm(structure: Structure, values: Tensor, dense: Tensor, *, transposed_values: Tensor | None = None) -> Tensor:
    """A·D for the sparse A with these values. Gradients: Aᵀ·G for D, and (G·Dᵀ) at the entries for the values.

    `transposed_values`, when the caller has them, are `values[structure.order]`.
    """
    product: Tensor = _SparseProduct.apply(structure, values, transposed_values, dense)
    return product


def linear(features: Features, weight: Tensor) -> Tensor:
    """X·W for dense or sparse X, with W as [in, out]: [V, out]. For replicas W is [R, in, out]: [V, R, out].

    All replicas share X, and then one product with [W_1 | W_2 | …] serves them all, unless X has a replica axis.
    """
    if weight.dim() == 2:
        return _product(features, weight)
    replicas, _, outputs = weight.shape
    if isinstance(features, Tensor) and features.dim() == 3:
        return torch.bmm(features.transpose(0, 1), weight).transpose(0, 1)
    by_input = weight.transpose(0, 1)
    own = isinstance(features, SparseFeatures) and features.replicas is not None
    return _product(features, by_input.flatten(0, 1) if own else by_input.flatten(1)).view(-1, replicas, outputs)


def mix(structure: Structure, values: Tensor, rows: Tensor) -> Tensor:
    """A·H for rows [V, ..., D]; the axes between are copies of the block structure."""
    return spmm(structure, values, rows.flatten(0, -2)).view(rows.shape)


def _product(features: Features, weight: Tensor) -> Tensor:
    if isinstance(features, SparseFeatures):
        transposed = features.transposed_values
        return spmm(features.structure, features.values, weight, transposed_values=transposed)
    return features @ weight


class _SparseProduct(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, structure: Structure, values: Tensor, transposed_values: Tensor | None, dense: Tensor
    ) -> Tensor:
        ctx.structure = structure
        ctx.save_for_backward(values, transposed_values, dense if values.requires_grad else None)
        return _matrix(structure, values) @ dense

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, None, Tensor | None]:
        values, transposed_values, dense = ctx.saved_tensors
        to_values = _sampled_product(ctx.structure, grad, dense) if ctx.needs_input_grad[1] else None
        to_dense = None
        if ctx.needs_input_grad[3]:
            if transposed_values is None:
                transposed_values = values.index_select(0, ctx.structure.order)
            to_dense = _transposed_matrix(ctx.structure, transposed_values) @ grad
        return None, to_values, None, to_dense


def _sampled_product(structure: Structure, left: Tensor, right: Tensor) -> Tensor:
    """(left · rightᵀ) at the entries of the structure."""
    # torch allows no more entries than places, which repeated edges in a tiny graph can exceed.
    fits = structure.num_entries <= structure.shape[0] * structure.shape[1]
    if fits and (left.is_cuda or torch.backends.mkl.is_available()):
        # A width that is no multiple of 8 is ten times slower on a CPU; columns of zeros add nothing.
        missing = -left.shape[1] % 8
        left, right = F.pad(left, (0, missing)), F.pad(right, (0, missing))
        pattern = _matrix(structure, left.new_zeros(structure.num_entries))
        return torch.sparse.sampled_addmm(pattern, left, right.t(), beta=0.0).values()
    return (left.index_select(0, structure.rows) * right.index_select(0, structure.columns)).sum(1)


def _matrix(structure: Structure, values: Tensor) -> Tensor:
    return _compressed(structure.pointers, structure.columns, values, structure.shape)


def _transposed_matrix(structure: Structure, values: Tensor) -> Tensor:
    turned = (structure.shape[1], structure.shape[0])
    return _compressed(structure.transposed_pointers, structure.transposed_columns, values, turned)


def _compressed(pointers: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    spend_warnings()
    # Repeated edges are entries of their own, which the product allows and torch's invariants do not.
    return torch.sparse_csr_tensor(pointers, columns, values, shape, check_invariants=False)


@functools.cache
def spend_warnings() -> None:
    """Let torch give its once-only warnings about CSR (in beta; invariants unchecked) here, unseen.

    No filter is left changed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), check_invariants=False)
