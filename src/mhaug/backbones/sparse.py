"""Sparse matrices on a fixed structure, and their product with a dense one; backward through the stored transpose."""

import functools
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from mhaug.backbones import fused
from mhaug.backbones.structure import Structure


@dataclass(frozen=True, eq=False)
class Sparse:
    """A sparse matrix: values [entries] on a structure; or several on one structure, values [entries, ...].

    How the values lie for a product is worked out on first use, and serves every later product, backward ones too.
    """

    structure: Structure
    values: Tensor

    @property
    def shape(self) -> tuple[int, int]:
        return self.structure.shape

    @property
    def dtype(self) -> torch.dtype:
        return self.values.dtype

    def __matmul__(self, dense: Tensor) -> Tensor:
        """A·D, [rows, ..., D] for `dense` [columns, ..., D].

        The axes between are copies, each with values of its own; values [entries] serve all copies. Gradients:
        Aᵀ·G for D, and (G·Dᵀ) at the entries for the values.
        """
        structure, values = self._laid_out
        transposed = self._transposed if torch.is_grad_enabled() and dense.requires_grad else None
        flat = dense.flatten(1) if self.values.dim() == 1 else dense.flatten(0, -2)
        product: Tensor = _Product.apply(structure, values, transposed, flat)
        return product.view(self.shape[0], *dense.shape[1:])

    def narrow_product(self, dense: Tensor) -> Tensor:
        """A·D for many copies of few columns, as attention has: a kernel of our own on a GPU.

        It is twice as fast there as cuSPARSE, which in turn is as fast or faster on wide rows and needs no compiler.
        """
        return fused.spmm(self.structure, self.values, dense) if fused.works_on(dense) else self @ dense

    def with_values(self, values: Tensor) -> "Sparse":
        """The same entries with other values."""
        return Sparse(self.structure, values)

    def to_dense(self) -> Tensor:
        """An ordinary [rows, columns] tensor."""
        dense = self.values.new_zeros(self.shape)
        return dense.index_put((self.structure.rows, self.structure.columns), self.values, accumulate=True)

    def to(self, device: torch.device | str) -> "Sparse":
        """The same matrix on another device."""
        return Sparse(self.structure.to(device), self.values.to(device))

    @cached_property
    def _laid_out(self) -> tuple[Structure, Tensor]:
        if self.values.dim() == 1:
            return self.structure, self.values
        blocks, source = self.structure.blocks(self.values[0].numel())
        return blocks, self.values.flatten().index_select(0, source)

    @cached_property
    def _transposed(self) -> Tensor:
        structure, values = self._laid_out
        return values.detach().index_select(0, structure.order)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, structure: Structure, values: Tensor, transposed_values: Tensor | None, dense: Tensor
    ) -> Tensor:
        ctx.structure = structure
        ctx.save_for_backward(transposed_values, dense if values.requires_grad else None)
        return _times(structure.pointers, structure.columns, values, structure.shape, dense)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor | None, None, Tensor | None]:
        transposed_values, dense = ctx.saved_tensors
        to_values = _sampled_product(ctx.structure, grad, dense) if ctx.needs_input_grad[1] else None
        to_dense = None
        if ctx.needs_input_grad[3]:
            structure = ctx.structure
            pointers, columns = structure.transposed_pointers, structure.transposed_columns
            to_dense = _times(pointers, columns, transposed_values, structure.shape[::-1], grad)
        return None, to_values, None, to_dense


def _sampled_product(structure: Structure, left: Tensor, right: Tensor) -> Tensor:
    """(left · rightᵀ) at the entries of the structure."""
    # torch allows no more entries than places, which repeated edges in a tiny graph can exceed.
    fits = structure.num_entries <= structure.shape[0] * structure.shape[1]
    if fits and (left.is_cuda or torch.backends.mkl.is_available()):
        # A width that is no multiple of 8 is ten times slower on a CPU; columns of zeros add nothing.
        missing = -left.shape[1] % 8
        left, right = F.pad(left, (0, missing)), F.pad(right, (0, missing))
        values = left.new_zeros(structure.num_entries)
        pattern = _compressed(structure.pointers, structure.columns, values, structure.shape)
        return torch.sparse.sampled_addmm(pattern, left, right.t(), beta=0.0).values()
    return (left.index_select(0, structure.rows) * right.index_select(0, structure.columns)).sum(1)


def _times(pointers: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int], dense: Tensor) -> Tensor:
    """A·D for A in compressed rows."""
    if fused.multiplies(dense):
        return fused.product(pointers, columns, values, dense)
    return _compressed(pointers, columns, values, shape) @ dense


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
