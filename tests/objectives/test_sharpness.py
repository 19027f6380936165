"""Entropies by hand."""

import math

import pytest
import torch

from mhaug.objectives import entropy, normalised_entropy, sharpness_loss


@pytest.mark.parametrize("classes", [2, 7])
def test_even_predictions_have_entropy_log_c(classes: int) -> None:
    logits = torch.full((3, classes), 4.0)
    torch.testing.assert_close(entropy(logits), torch.full((3,), math.log(classes)))
    torch.testing.assert_close(normalised_entropy(logits), torch.ones(3))


def test_the_loss_is_the_mean() -> None:
    logits = torch.tensor([[0.5, 0.5], [0.9, 0.1]]).log()
    # ln 2 and 0.3251
    assert float(sharpness_loss(logits)) == pytest.approx((0.6931 + 0.3251) / 2, abs=1e-4)


def test_saturated_logits_have_entropy_zero_and_finite_gradients() -> None:
    logits = torch.tensor([[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4]], requires_grad=True)
    sharpness_loss(logits).backward()
    assert logits.grad.isfinite().all()
    assert entropy(logits).tolist() == pytest.approx([0.0, math.log(3)])


def test_normalised_entropy_has_no_gradient_and_stays_in_range() -> None:
    logits = (torch.randn(1000, 7, generator=torch.Generator().manual_seed(0)) * 1e-3).requires_grad_()
    share = normalised_entropy(logits)
    assert not share.requires_grad
    assert 0.0 <= float(share.min()) <= float(share.max()) <= 1.0


def test_one_class_is_never_unsure() -> None:
    assert normalised_entropy(torch.ones(4, 1)).tolist() == [0.0] * 4
