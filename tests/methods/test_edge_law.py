"""The law of drawn edges, by hand."""

from dataclasses import replace

import pytest
import torch

from methods.edge_sources import LAW, some_codes, source
from mhaug.methods.parts.edge_law import EdgeLaw
from mhaug.methods.parts.known_pairs import KnownPairs


def test_law_by_hand():
    codes = torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 0.5]])
    known = KnownPairs.of(torch.tensor([[0], [1]]), 3)
    # scores 1, 0, 0.5 above the diagonal; the largest on it, 2
    assert float(replace(LAW, predicted_share=1.0).scale(codes, known).others) == pytest.approx(0.5)
    # expected edges 0.75, at most 0.25 · 1 allowed; counts below one are taken as one
    law = EdgeLaw(0.8, 1.0, 0.25)
    scale = law.scale(codes, known)
    assert float(scale.others) == pytest.approx(0.4 * 0.25)
    # the cap leaves the edge alone: α S / max S + 1 - α
    probability = law.probability(torch.tensor([1.0, 0.5]), torch.tensor([True, False]), scale)
    torch.testing.assert_close(probability, torch.tensor([0.4 + 0.2, 0.4 * 0.25 * 0.5]))
    noise = torch.tensor([0.1, 0.5, 0.9])
    relaxed = EdgeLaw(1.0, 1.0, 1.0).relaxed(torch.tensor([0.5, 0.5, 0.5]), noise)
    # σ(-logit ε) = 1 - ε
    torch.testing.assert_close(relaxed, 1.0 - noise)


def test_cap_bounds_the_expected_number_of_new_edges():
    codes, known = some_codes().detach(), source().known
    scale = EdgeLaw(1.0, 1.0, 0.1).scale(codes, known)
    assert float((scale.others * (codes @ codes.t())).triu(1).sum()) == pytest.approx(0.1 * known.count)
    # as long as it is not reached nothing is changed
    loose = EdgeLaw(1.0, 1.0, 100.0).scale(codes, known)
    assert float(loose.others) == pytest.approx(float(loose.edges))


def test_longer_codes_are_the_same_law():
    """So no loss of the classifier can shrink the codes: the gradient has no part along them."""
    codes, origin = some_codes(), source()
    for law in (LAW, replace(LAW, density_cap=0.1)):
        scale = law.scale(codes, origin.known)
        for longer, one in zip(law.scale(3.0 * codes, origin.known), scale, strict=True):
            torch.testing.assert_close(longer, one / 9.0)
        probability = law.probability(codes @ codes.t(), torch.tensor(False), scale)
        (slope,) = torch.autograd.grad((probability * torch.rand_like(probability)).sum(), codes)
        assert abs(float((slope * codes).sum().detach())) < 1e-10 * float(slope.abs().sum())
