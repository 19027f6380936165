import math

import pytest
import torch
from sklearn.metrics import f1_score

from methods.problems import planted_task
from mhaug.training.evaluation import accuracies, macro_f1, validation_loss


def test_accuracies_by_hand():
    task = planted_task()
    logits = torch.nn.functional.one_hot(task.labels, 3).float()
    assert accuracies(logits, task).test == 1.0
    wrong = task.split.validation.nonzero().squeeze(1)[:3]
    logits[wrong] = logits[wrong].roll(1, 1)
    scores = accuracies(logits, task)
    assert scores.train == 1.0
    assert scores.validation == pytest.approx(27 / 30)


def test_validation_loss_by_hand():
    """Three classes told alike: log 3, whatever is said of the other nodes."""
    task = planted_task()
    logits = torch.randn(task.labels.numel(), 3, generator=torch.Generator().manual_seed(0))
    logits[task.split.validation] = 0.0
    assert validation_loss(logits, task) == pytest.approx(math.log(3))


def test_macro_f1_by_hand():
    """True 0 0 1 1, told 0 1 1 1: F1 of class 0 is 2/3, of class 1 is 4/5; class 2 never occurs."""
    logits = torch.eye(3)[torch.tensor([0, 1, 1, 1])]
    labels = torch.tensor([0, 0, 1, 1])
    assert macro_f1(logits, labels, torch.ones(4).bool()) == pytest.approx((2 / 3 + 4 / 5) / 2)


def test_macro_f1_is_scikit_learns():
    generator = torch.Generator().manual_seed(0)
    logits, labels = torch.rand(200, 4, generator=generator), torch.randint(4, (200,), generator=generator)
    nodes = torch.rand(200, generator=generator) < 0.5
    expected = f1_score(labels[nodes], logits.argmax(1)[nodes], average="macro")
    assert macro_f1(logits, labels, nodes) == pytest.approx(expected)


def test_an_empty_set_has_no_score():
    assert math.isnan(macro_f1(torch.eye(3), torch.arange(3), torch.zeros(3).bool()))
