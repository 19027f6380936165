"""New pairs of nodes of one predicted class, found inside each class instead of among all pairs of the graph."""

from collections.abc import Callable

import torch
from torch import Tensor

from mhaug.methods.parts.known_pairs import KnownPairs, pair_keys
from mhaug.methods.parts.pseudo_labels import PseudoLabels


def surest_missing(labels: PseudoLabels, threshold: float, count: int, known: KnownPairs) -> Tensor:
    """The `count` pairs of largest c_u · c_v that are of one class, not `known`, and sure at both ends.

    Sure is what reaches `threshold`. As columns [2, ≤ count], best first; of equals the one of smaller node numbers.
    Costs O(n log n) for n = `count` + known pairs, however many nodes a class has.
    """
    found = []
    for nodes in _buckets(labels, threshold):
        pairs = _leading_pairs(nodes, count + known.count)
        found.append(pairs[:, ~known.contains(pairs)])
    pairs = torch.cat(found, 1)
    pairs = pairs[:, pair_keys(pairs, known.num_nodes).sort().indices]
    best = labels.pair_confidence(pairs).sort(descending=True, stable=True).indices
    return pairs[:, best[:count]]


def random_missing(
    labels: PseudoLabels, threshold: float, count: int, known: KnownPairs, *, uniform: Callable[[int], Tensor]
) -> Tensor:
    """`count` pairs drawn evenly from those that `surest_missing` ranks; all of them where there are fewer.

    `uniform` gives so many numbers in [0, 1). A class of m sure nodes has m (m - 1) / 2 pairs; they are numbered
    through all classes, and numbers are drawn until enough new pairs were met: O(count + known pairs).
    """
    buckets = _buckets(labels, threshold)
    sizes = torch.tensor([len(nodes) for nodes in buckets], device=labels.classes.device)
    ends = (sizes * (sizes - 1) // 2).cumsum(0)
    total = int(ends[-1]) if len(buckets) else 0
    wanted = 2 * (count + known.count)
    if total <= wanted:
        numbers = torch.arange(total, device=sizes.device)
    else:
        numbers = (uniform(wanted) * total).long().unique()
    numbers = numbers[uniform(len(numbers)).argsort()]
    pairs = _pairs_of_numbers(numbers, torch.cat(buckets), sizes, ends) if total else known.index[:, :0]
    return pairs[:, ~known.contains(pairs)][:, :count]


def _buckets(labels: PseudoLabels, threshold: float) -> list[Tensor]:
    """The sure nodes of each class, the surest first."""
    buckets = []
    for each in labels.classes.unique():
        nodes = ((labels.classes == each) & (labels.confidence >= threshold)).nonzero().squeeze(1)
        buckets.append(nodes[labels.confidence[nodes].sort(descending=True, stable=True).indices])
    return buckets


def _pairs_of_numbers(numbers: Tensor, nodes: Tensor, sizes: Tensor, ends: Tensor) -> Tensor:
    """Pair number n of a class is (a, b), a < b, with n = b (b - 1) / 2 + a."""
    bucket = torch.searchsorted(ends, numbers, right=True)
    within = numbers - torch.cat([ends.new_zeros(1), ends])[bucket]
    b = ((1.0 + (1.0 + 8.0 * within.double()).sqrt()) / 2.0).long()
    # the root may be rounded across a whole number
    b = b - (b * (b - 1) // 2 > within).long() + (b * (b + 1) // 2 <= within).long()
    first = (sizes.cumsum(0) - sizes)[bucket]
    return torch.stack([nodes[first + within - b * (b - 1) // 2], nodes[first + b]])


def _leading_pairs(ranked: Tensor, enough: int) -> Tensor:
    """All pairs of a ranking that may be among its `enough` best by any product of ranks' values, [2, P].

    Pair (a, b), a < b, is beaten by all (a', b') with a' ≤ a and b' ≤ b: with itself (a + 1) b - a (a + 1) / 2 of
    them. So row a needs no b beyond (enough + a (a + 1) / 2) / (a + 1).
    """
    a = torch.arange(len(ranked), device=ranked.device)
    last = ((enough + a * (a + 1) // 2) // (a + 1)).clamp(max=len(ranked) - 1)
    lengths = (last - a).clamp(min=0)
    first = a.repeat_interleave(lengths)
    start = (lengths.cumsum(0) - lengths).repeat_interleave(lengths)
    second = first + 1 + torch.arange(len(first), device=ranked.device) - start
    return torch.stack([ranked[first], ranked[second]])
