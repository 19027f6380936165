"""L_s by hand."""

import math

import pytest
import torch

from mhaug.checks import RequestError
from mhaug.objectives import supervised_loss

LOGITS = torch.tensor([[0.0, 0.0], [math.log(3.0), 0.0], [5.0, -5.0]])
LABELS = torch.tensor([0, 0, -1])


@pytest.mark.parametrize("nodes", [torch.tensor([True, True, False]), torch.tensor([0, 1])])
def test_mean_over_the_nodes_by_hand(nodes: torch.Tensor) -> None:
    # probabilities of the right class: 1/2 and 3/4; the unlabelled node plays no part
    expected = -(math.log(0.5) + math.log(0.75)) / 2
    assert float(supervised_loss(LOGITS, LABELS, nodes)) == pytest.approx(expected)


def test_only_these_nodes_get_a_gradient() -> None:
    logits = LOGITS.clone().requires_grad_()
    supervised_loss(logits, LABELS, torch.tensor([False, True, False])).backward()
    assert logits.grad.abs().sum(1).ne(0).tolist() == [False, True, False]


def test_saturated_logits_are_finite() -> None:
    logits = torch.tensor([[1e4, -1e4], [-1e4, 1e4]], requires_grad=True)
    loss = supervised_loss(logits, torch.tensor([1, 1]), torch.tensor([True, True]))
    loss.backward()
    assert float(loss.detach()) == 1e4
    assert logits.grad.tolist() == [[0.5, -0.5], [0.0, 0.0]]


def test_bad_nodes_are_refused() -> None:
    with pytest.raises(RequestError, match="'nodes' must be not empty"):
        supervised_loss(LOGITS, LABELS, torch.tensor([], dtype=torch.long))
    with pytest.raises(RequestError, match=r"'nodes' must be a tensor of shape \(3,\); got \(2,\)"):
        supervised_loss(LOGITS, LABELS, torch.tensor([True, False]))
