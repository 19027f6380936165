"""L_u by hand: values, gradients, and the options of UDA."""

import math

import pytest
import torch

from mhaug.checks import RequestError
from mhaug.objectives import consistency_loss, kl_divergence

EVEN = torch.tensor([[0.5, 0.5]]).log()
SURE = torch.tensor([[0.9, 0.1]]).log()


def test_values_by_hand() -> None:
    assert float(consistency_loss(EVEN, SURE)) == pytest.approx(0.5108, abs=1e-4)  # ½ ln(½/.9) + ½ ln(½/.1)
    assert float(consistency_loss(SURE, EVEN)) == pytest.approx(0.3681, abs=1e-4)
    assert float(consistency_loss(SURE, SURE)) == 0.0


def test_it_is_a_mean_over_nodes() -> None:
    both = consistency_loss(torch.cat([EVEN, SURE]), torch.cat([SURE, SURE]))
    assert float(both) == pytest.approx(0.5108 / 2, abs=1e-4)


@pytest.mark.parametrize("stop_gradient", [False, True])
def test_gradient_flow(stop_gradient: bool) -> None:
    first, second = EVEN.clone().requires_grad_(), SURE.clone().requires_grad_()
    consistency_loss(first, second, stop_gradient=stop_gradient).backward()
    assert (first.grad is None) == stop_gradient
    # q - p at the second side
    torch.testing.assert_close(second.grad, torch.tensor([[0.4, -0.4]]))


def test_sharpening_moves_the_first_side_alone() -> None:
    # softmax(z / ½) of (.9, .1) is (.81, .01) / .82
    p = 0.81 / 0.82
    expected = p * math.log(p / 0.5) + (1 - p) * math.log((1 - p) / 0.5)
    assert float(consistency_loss(SURE, EVEN, temperature=0.5)) == pytest.approx(expected)


def test_unsure_nodes_count_as_zero() -> None:
    first, second = torch.cat([EVEN, SURE]), torch.cat([SURE, EVEN])
    assert float(consistency_loss(first, second, confidence=0.8)) == pytest.approx(0.3681 / 2, abs=1e-4)
    # the threshold is on the unsharpened prediction
    assert float(consistency_loss(SURE, EVEN, confidence=0.95, temperature=0.1)) == 0.0


def test_saturated_logits_are_finite() -> None:
    first = torch.tensor([[1e4, -1e4], [-1e4, 1e4], [0.0, 0.0]], requires_grad=True)
    second = torch.tensor([[-1e4, 1e4], [-1e4, 1e4], [1e4, -1e4]], requires_grad=True)
    loss = consistency_loss(first, second)
    loss.backward()
    assert kl_divergence(first, second).tolist() == pytest.approx([2e4, 0.0, 1e4 - math.log(2)])
    assert first.grad.isfinite().all()
    assert second.grad.isfinite().all()


def test_bad_requests() -> None:
    with pytest.raises(RequestError, match=r"'temperature' must be a finite number above 0; got 0\.0"):
        consistency_loss(EVEN, SURE, temperature=0.0)
    with pytest.raises(RequestError, match=r"'current' must be a tensor of shape \(1, 2\)"):
        consistency_loss(EVEN, SURE[:, :1])
