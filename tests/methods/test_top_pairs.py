"""Blocked choice among all pairs, and choice inside predicted classes, against looking at every pair."""

from itertools import combinations

import pytest
import torch

from methods.allocations import LargestTensor
from mhaug.methods.parts.class_buckets import random_missing, surest_missing
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pseudo_labels import PseudoLabels
from mhaug.methods.parts.top_pairs import BLOCK, likeliest_missing, score_blocks


def uniform_from(seed: int):
    generator = torch.Generator().manual_seed(seed)
    return lambda size: torch.rand(size, dtype=torch.float64, generator=generator)


def some_codes(nodes: int, width: int = 4, seed: int = 0) -> torch.Tensor:
    return torch.randn(nodes, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def columns(pairs: torch.Tensor) -> list[tuple[int, int]]:
    return [tuple(sorted(pair)) for pair in pairs.t().tolist()]


def test_known_pairs_know_both_directions_and_no_loops():
    known = KnownPairs.of(torch.tensor([[3, 0, 1, 2], [1, 1, 0, 2]]), 4)
    assert columns(known.index) == [(0, 1), (1, 3)]
    assert known.contains(torch.tensor([[1, 0, 2], [3, 2, 2]])).tolist() == [True, False, False]
    assert columns(known.in_rows(1, 4)) == [(1, 3)]
    assert KnownPairs.of(torch.empty(2, 0, dtype=torch.long), 4).contains(torch.tensor([[0], [1]])).tolist() == [
        False
    ]


@pytest.mark.parametrize("block", [1, 7, 60, BLOCK])
def test_score_blocks_are_the_upper_triangle(block):
    codes, dense = some_codes(11), torch.full((11, 11), -torch.inf, dtype=torch.float64)
    for first, scores in score_blocks(codes, block=block):
        assert scores.numel() <= max(block, 11)
        dense[first : first + scores.shape[0], first:] = scores
    expected = (codes @ codes.t()).masked_fill(torch.ones(11, 11, dtype=torch.bool).tril(), -torch.inf)
    torch.testing.assert_close(dense, expected)


@pytest.mark.parametrize("block", [1, 13, 100, BLOCK])
@pytest.mark.parametrize("count", [0, 1, 25, 1000])
def test_likeliest_missing_is_what_a_look_at_all_pairs_finds(count, block):
    codes = some_codes(20)
    known = KnownPairs.of(torch.tensor([[0, 1, 5, 19], [7, 2, 6, 0]]), 20)
    scores = codes @ codes.t()
    missing = [pair for pair in combinations(range(20), 2) if pair not in columns(known.index)]
    expected = sorted(missing, key=lambda pair: -scores[pair])[:count]
    assert columns(likeliest_missing(codes, count, known, block=block)) == expected


def test_of_equal_pairs_the_first_are_taken():
    codes, known = torch.ones(6, 2), KnownPairs.of(torch.tensor([[0], [1]]), 6)
    for block in (1, 12, BLOCK):
        assert columns(likeliest_missing(codes, 3, known, block=block)) == [(0, 2), (0, 3), (0, 4)]


def test_no_tensor_is_larger_than_a_block():
    codes, block = some_codes(3000, 8).float(), 2**16
    known = KnownPairs.of(torch.randint(3000, (2, 9000), generator=torch.Generator().manual_seed(0)), 3000)
    with LargestTensor() as largest:
        likeliest_missing(codes, 500, known, block=block)
    assert largest.elements <= block  # all pairs would be 9,000,000


LABELS = PseudoLabels(
    torch.tensor([0, 0, 0, 0, 1, 1, 1, 2]),
    torch.tensor([0.9, 0.6, 0.8, 0.7, 0.99, 0.5, 0.95, 1.0], dtype=torch.float64),
)


def test_pseudo_labels():
    labels = PseudoLabels.of(torch.tensor([[0.0, 0.0], [2.0, 0.0]]))
    assert labels.classes.tolist() == [0, 0]
    assert labels.confidence.tolist() == pytest.approx([0.5, 0.8807970779778823])
    pairs = torch.tensor([[0, 0, 4], [1, 4, 5]])
    assert LABELS.agree(pairs).tolist() == [True, False, True]
    assert LABELS.pair_confidence(pairs).tolist() == pytest.approx([0.54, 0.891, 0.495])
    assert LABELS.both_above(pairs, 0.6).tolist() == [True, True, False]


def test_surest_missing_by_hand():
    known = KnownPairs.of(torch.tensor([[0], [2]]), 8)
    # sure of class 0: 0 (0.9), 2 (0.8), 3 (0.7); of class 1: 4 (0.99), 6 (0.95); {0, 2} is an edge already
    assert columns(surest_missing(LABELS, 0.65, 10, known)) == [(4, 6), (0, 3), (2, 3)]
    assert columns(surest_missing(LABELS, 0.65, 1, known)) == [(4, 6)]
    assert surest_missing(LABELS, 1.0, 10, known).shape == (2, 0)


def random_labels(nodes: int, classes: int) -> PseudoLabels:
    generator = torch.Generator().manual_seed(3)
    confidence = torch.rand(nodes, dtype=torch.float64, generator=generator)
    return PseudoLabels(torch.randint(classes, (nodes,), generator=generator), confidence)


def allowed_pairs(labels: PseudoLabels, threshold: float, known: KnownPairs) -> list[tuple[int, int]]:
    sure, edges = labels.confidence >= threshold, set(columns(known.index))
    pairs = combinations(range(len(sure)), 2)
    return [(u, v) for u, v in pairs if labels.classes[u] == labels.classes[v] and sure[u] and sure[v]
            and (u, v) not in edges]  # fmt: skip


@pytest.mark.parametrize("count", [1, 10, 60, 10_000])
def test_surest_missing_is_what_a_look_at_all_pairs_finds(count):
    labels = random_labels(60, 3)
    known = KnownPairs.of(torch.randint(60, (2, 90), generator=torch.Generator().manual_seed(0)), 60)
    best = sorted(allowed_pairs(labels, 0.3, known), key=lambda pair: -labels.confidence[list(pair)].prod())
    assert columns(surest_missing(labels, 0.3, count, known)) == best[:count]


@pytest.mark.parametrize("count", [5, 10_000])
def test_random_missing_are_allowed_different_and_as_many_as_there_are(count):
    labels = random_labels(60, 3)
    known = KnownPairs.of(torch.randint(60, (2, 20), generator=torch.Generator().manual_seed(0)), 60)
    allowed = allowed_pairs(labels, 0.3, known)
    found = columns(random_missing(labels, 0.3, count, known, uniform=uniform_from(1)))
    assert set(found) <= set(allowed)
    assert len(set(found)) == len(found) == min(count, len(allowed))


def test_random_missing_is_even():
    labels, known = random_labels(40, 2), KnownPairs.of(torch.tensor([[0], [1]]), 40)
    allowed, uniform = allowed_pairs(labels, 0.0, known), uniform_from(2)
    times = dict.fromkeys(allowed, 0)
    for _ in range(2000):
        for pair in columns(random_missing(labels, 0.0, 10, known, uniform=uniform)):
            times[pair] += 1
    expected = 2000 * 10 / len(allowed)
    square = sum((count - expected) ** 2 / expected for count in times.values())
    # chi-squared: mean n, deviation √(2 n)
    assert abs(square - len(allowed)) < 5.0 * (2.0 * len(allowed)) ** 0.5


@pytest.mark.parametrize("choose", [surest_missing, random_missing])
def test_buckets_do_not_look_at_all_pairs(choose):
    nodes = 6000
    labels, known = random_labels(nodes, 2), KnownPairs.of(torch.tensor([[0], [1]]), nodes)
    more = {"uniform": uniform_from(0)} if choose is random_missing else {}
    with LargestTensor() as largest:
        assert choose(labels, 0.0, 1000, known, **more).shape == (2, 1000)
    assert largest.elements < 100_000  # the two classes have 9,000,000 pairs


def test_no_sure_node_no_pair():
    known = KnownPairs.of(torch.tensor([[0], [1]]), 8)
    none = PseudoLabels(LABELS.classes, torch.zeros_like(LABELS.confidence))
    assert random_missing(none, 0.5, 10, known, uniform=uniform_from(0)).shape == (2, 0)
    assert surest_missing(none, 0.5, 10, known).shape == (2, 0)
