"""Eq. 9 by hand: terms, weights, and which graph each term reads."""

import math

import pytest
import torch

from mhaug.checks import RequestError
from mhaug.objectives import Losses, ViewLogits, total_loss

EVEN = torch.tensor([[0.5, 0.5]]).log()
SURE = torch.tensor([[0.9, 0.1]]).log()
LABELS, NODES = torch.tensor([0]), torch.tensor([True])


def test_the_sum_by_hand() -> None:
    logits = ViewLogits(original=SURE, previous=EVEN, current=SURE)
    losses = total_loss(logits, LABELS, NODES, consistency_weight=2.0, sharpness_weight=10.0)
    numbers = losses.detached()
    assert numbers["supervised"] == pytest.approx(math.log(2))
    assert numbers["consistency"] == pytest.approx(0.5108, abs=1e-4)
    assert numbers["sharpness"] == pytest.approx(0.3251, abs=1e-4)
    assert numbers["total"] == pytest.approx(math.log(2) + 2 * 0.5108 + 10 * 0.3251, abs=2e-3)


@pytest.mark.parametrize(("view", "probability"), [("original", 0.2), ("previous", 0.5), ("current", 0.9)])
def test_the_supervised_term_reads_the_graph_it_is_told_to(view: str, probability: float) -> None:
    logits = ViewLogits(torch.tensor([[0.2, 0.8]]).log(), EVEN, SURE)
    losses = total_loss(logits, LABELS, NODES, supervised_on=view)
    assert float(losses.total) == pytest.approx(-math.log(probability))


def test_a_weight_of_zero_skips_the_term_and_its_logits() -> None:
    losses = total_loss(ViewLogits(previous=EVEN), LABELS, NODES)
    assert list(losses.terms) == ["supervised"]
    assert losses.total is losses.terms["supervised"]


def test_missing_logits_are_named() -> None:
    with pytest.raises(RequestError, match="'current' must be given"):
        total_loss(ViewLogits(previous=EVEN), LABELS, NODES, consistency_weight=1.0)
    with pytest.raises(RequestError, match="'original' must be given"):
        total_loss(ViewLogits(previous=EVEN), LABELS, NODES, sharpness_weight=1.0)


def test_bad_requests() -> None:
    with pytest.raises(RequestError, match="'supervised_on' must be one of original, previous, current; got 'next'"):
        total_loss(ViewLogits(previous=EVEN), LABELS, NODES, supervised_on="next")
    with pytest.raises(RequestError, match="'consistency_weight' must be a finite number of at least 0; got -1"):
        total_loss(ViewLogits(previous=EVEN), LABELS, NODES, consistency_weight=-1)


def test_gradient_reaches_all_three_graphs() -> None:
    views = [logits.clone().requires_grad_() for logits in (SURE, EVEN, SURE)]
    losses = total_loss(ViewLogits(*views), LABELS, NODES, consistency_weight=1.0, sharpness_weight=1.0)
    assert isinstance(losses, Losses)
    assert set(losses.detached()) == {"total", "supervised", "consistency", "sharpness"}
    losses.total.backward()
    assert all(view.grad is not None and view.grad.any() for view in views)
