"""X·W for any kind of features, for one network or for replicas."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from mhaug.backbones.features import Features
from mhaug.backbones.sparse import Sparse

NARROW = 32  # outputs below which a product is turned round on a CPU


def linear(features: Features, weight: Tensor) -> Tensor:
    """X·W for dense or sparse X, with W as [in, out]: [V, out]. For replicas W is [R, in, out]: [V, R, out].

    Where all replicas share X, one product with [W_1 | W_2 | …] serves them all.
    """
    if (
        weight.dim() == 2
        and isinstance(features, Tensor)
        and features.device.type == "cpu"
        and weight.shape[1] < NARROW
    ):
        narrow: Tensor = _NarrowProduct.apply(features, weight)
        return narrow
    by_input = weight if weight.dim() == 2 else weight.transpose(0, 1)
    if isinstance(features, Sparse):
        return features @ by_input.contiguous()
    if features.dim() > 2:
        by_replica = features.flatten(0, -3).transpose(0, 1)  # [R, V·…, in]
        return _batched(by_replica, weight).transpose(0, 1).unflatten(0, features.shape[:-2])
    return (features @ by_input.flatten(1)).unflatten(1, by_input.shape[1:])


class _NarrowProduct(torch.autograd.Function):
    """H·W with few outputs on a CPU: the library is three times as fast when asked for (Wᵀ·Hᵀ)ᵀ."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(rows, weight)
        return (weight.t() @ rows.t()).t().contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor]:
        rows, weight = ctx.saved_tensors
        to_rows = grad @ weight.t() if ctx.needs_input_grad[0] else None
        return to_rows, (grad.t() @ rows).t()


def _batched(rows: Tensor, weight: Tensor) -> Tensor:
    """[R, N, in] · [R, in, out]."""
    product: Tensor = _BatchedProduct.apply(rows, weight)
    return product


class _BatchedProduct(torch.autograd.Function):
    """`torch.bmm`, but for the gradient of the weights: a long sum into a small matrix, which keeps few cores busy.

    The sum is taken in parts, and then over the parts.
    """

    PART = 256

    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(rows, weight)
        return torch.bmm(rows, weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, Tensor]:
        rows, weight = ctx.saved_tensors
        to_rows = torch.bmm(grad, weight.transpose(1, 2)) if ctx.needs_input_grad[0] else None
        part = _BatchedProduct.PART
        whole = rows.shape[1] // part * part
        to_weight = torch.bmm(rows[:, whole:].transpose(1, 2), grad[:, whole:])
        if whole:
            parts = [piece[:, :whole].unflatten(1, (-1, part)) for piece in (rows, grad)]
            to_weight = to_weight + torch.einsum("rpkh,rpkc->rphc", *parts).sum(1)
        return to_rows, to_weight
