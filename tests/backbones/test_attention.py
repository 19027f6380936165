"""Scores and softmax on a structure: by hand, and by gradcheck."""

import pytest
import torch

from mhaug.backbones.attention import pair_sums, row_softmax
from mhaug.backbones.structure import Structure, arrange


@pytest.fixture
def structure() -> Structure:
    """Entries (0, 0), (0, 1), (0, 1), (1, 1)."""
    return arrange(torch.tensor([0, 0, 0, 1]), torch.tensor([0, 1, 1, 1]), (2, 2))[0]


def test_pair_sums_by_hand(structure: Structure) -> None:
    sums = pair_sums(structure, torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0]))
    assert sums.tolist() == [11.0, 21.0, 21.0, 22.0]


def test_softmax_over_the_kept_entries_of_a_row(structure: Structure) -> None:
    scores = torch.tensor([0.0, 0.0, 1e4, -1e4])
    kept = torch.tensor([True, True, False, True])
    assert row_softmax(structure, scores, kept).tolist() == [0.5, 0.5, 0.0, 1.0]


def test_gradcheck(structure: Structure) -> None:
    rng = torch.Generator().manual_seed(0)
    target, source, scores = (
        torch.randn(size, generator=rng, dtype=torch.float64, requires_grad=True) for size in (2, 2, 4)
    )
    kept = torch.tensor([True, True, False, True])
    assert torch.autograd.gradcheck(lambda t, s: pair_sums(structure, t, s), (target, source))
    assert torch.autograd.gradcheck(lambda s: row_softmax(structure, s, kept), (scores,))
