"""Binary cross-entropy against soft labels, by hand and against torch's."""

import math

import pytest
import torch
from torch.nn import functional as F

from methods.allocations import LargestTensor
from mhaug.objectives.soft_labels import soft_label_loss

SURE = torch.tensor([[0.9, 0.1]]).log()
EVERY = torch.ones(1, dtype=torch.bool)


def test_values_by_hand() -> None:
    # both questions are answered right with 0.9
    assert float(soft_label_loss(SURE, torch.tensor([[1.0, 0.0]]), EVERY)) == pytest.approx(-math.log(0.9))
    expected = -0.5 * (math.log(0.9) + math.log(0.1))
    assert float(soft_label_loss(SURE, torch.tensor([[0.5, 0.5]]), EVERY)) == pytest.approx(expected)


def test_it_is_torchs_with_its_gradient_and_skips_what_is_not_counted() -> None:
    rng = torch.Generator().manual_seed(0)
    logits = torch.randn(6, 4, generator=rng, dtype=torch.float64, requires_grad=True)
    targets = torch.rand(6, 4, generator=rng, dtype=torch.float64)
    counted = torch.tensor([True, True, False, True, False, True])
    ours = soft_label_loss(logits, targets, counted)
    theirs = F.binary_cross_entropy(logits.softmax(-1)[counted], targets[counted])
    torch.testing.assert_close(ours, theirs)
    (mine,) = torch.autograd.grad(ours, logits)
    torch.testing.assert_close(mine, torch.autograd.grad(theirs, logits)[0])
    assert not mine[~counted].any()


def test_leading_axes_are_replicas() -> None:
    logits = torch.stack([SURE, SURE.flip(-1)])
    loss = soft_label_loss(logits, torch.tensor([[1.0, 0.0]]), EVERY)
    torch.testing.assert_close(loss, -torch.tensor([0.9, 0.1]).log())


def test_saturated_logits_and_a_single_class_are_finite() -> None:
    logits = torch.tensor([[1e4, -1e4], [-1e4, 1e4]], requires_grad=True)
    loss = soft_label_loss(logits, torch.tensor([[1.0, 0.0]] * 2), torch.ones(2, dtype=torch.bool))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(1e4)
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    single = torch.tensor([[3.0]], requires_grad=True)
    soft_label_loss(single, torch.ones(1, 1), EVERY).backward()
    assert single.grad is not None
    assert float(single.grad) == 0.0


def class_by_class(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The same loss with log Σ_{j≠c} exp z_j of each class written out: N C² numbers."""
    itself = torch.eye(logits.shape[-1], dtype=torch.bool)
    others = logits.unsqueeze(-2).masked_fill(itself, torch.finfo(logits.dtype).min / 2).logsumexp(-1)
    log_others = others - logits.logsumexp(-1, keepdim=True)
    return -(targets * logits.log_softmax(-1) + (1.0 - targets) * log_others).mean(-1).mean(-1)


@pytest.mark.parametrize("size", [0.1, 3.0, 40.0, 1e4])
@pytest.mark.parametrize("shape", [(50, 2), (50, 7), (3, 20, 4)])
def test_it_is_the_formula_class_by_class(shape: tuple[int, ...], size: float) -> None:
    """Unsure and saturated rows, ties among them; values and gradients."""
    rng = torch.Generator().manual_seed(1)
    logits = (size * torch.randn(shape, generator=rng, dtype=torch.float64)).requires_grad_()
    logits.data[..., :2, :] = size  # all classes alike
    targets = torch.rand(shape, generator=rng, dtype=torch.float64)
    ours = soft_label_loss(logits, targets, torch.ones(shape[:-1], dtype=torch.bool))
    theirs = class_by_class(logits, targets)
    torch.testing.assert_close(ours, theirs)
    found, expected = (torch.autograd.grad(one.sum(), logits)[0] for one in (ours, theirs))
    torch.testing.assert_close(found, expected)


def test_many_classes_need_no_square() -> None:
    logits = torch.randn(60, 500, requires_grad=True)
    with LargestTensor() as largest:
        soft_label_loss(logits, torch.rand(60, 500), torch.ones(60, dtype=torch.bool)).backward()
    assert largest.elements <= 60 * 500
