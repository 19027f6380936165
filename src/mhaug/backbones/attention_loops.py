"""The compiled loops of attention on a CPU: scores, softmax, dropout and weighted sum, one row after another.

Heads lie last here, [V·D, H]: what is done to one head is done to all of them in one instruction, and any D will do.
`numbers` are 0, 1, the slope of the leaky ReLU, the scale of dropout, -∞ and 1 / H, in the precision of the rows.
"""

from typing import Any

import numpy as np
from numba import njit

from mhaug.backbones.compiled_dropout import random_word
from mhaug.backbones.lanes import load, spread, store, where
from mhaug.backbones.lanes_exp import exp_of_negative

_compiled = njit(cache=True, nogil=True, error_model="numpy")


@_compiled
def heads_last(rows: Any, out: Any) -> None:
    """[V, H, D] -> [V·D, H]."""
    count, heads, width = rows.shape
    for node in range(count):
        for column in range(width):
            for head in range(heads):
                out[node * width + column, head] = rows[node, head, column]


@_compiled
def kept_entries(pointers: Any, columns: Any, kept: Any, ends: Any, sources: Any) -> Any:
    """The columns of the kept entries row by row, where each row ends, and how many there are."""
    end = np.int64(0)
    for row in range(len(ends)):
        for entry in range(pointers[row], pointers[row + 1]):
            # written always and counted if kept: which ones are is random, and a processor guesses badly
            sources[end] = columns[entry]
            end += np.int64(kept[entry])
        ends[row] = end
    return end


@_compiled
def fill_words(words: Any, seed: Any) -> None:
    """Random bits from here to the end."""
    for place in range(len(words)):
        words[place] = random_word(seed, place)


@_compiled
def fill_scores(rows: Any, vectors: Any, numbers: Any, scores: Any, like: Any) -> None:
    """a_t · h and a_s · h of each node and head, from the vectors of the heads, [2, D, H]."""
    nodes, width = len(scores) // 2, vectors.shape[1]
    for node in range(nodes):
        target = source = spread(numbers[0], like)
        for column in range(width):
            value = load(rows, node * width + column, like)
            target = target + value * load(vectors, column, like)
            source = source + value * load(vectors, width + column, like)
        store(scores, node, target)
        store(scores, nodes + node, source)


@_compiled
def mix_rows(
    ends: Any, sources: Any, rows: Any, scores: Any, levels: Any, dropped: Any, numbers: Any, shares: Any, out: Any,
    like: Any,
) -> None:  # fmt: skip
    """Σ_j dropout(α_ij) h_j of each row i. α is left in `shares`, with a minus where dropout takes it."""
    nodes, width, end = len(ends), len(rows) // len(ends), 0
    mixed = np.empty((width, len(like)), rows.dtype)
    zero, one, slope = spread(numbers[0], like), spread(numbers[1], like), spread(numbers[2], like)
    scale, lowest, first_kept = spread(numbers[3], like), spread(numbers[4], like), spread(dropped, like)
    for node in range(nodes):
        start, end = end, ends[node]
        own, largest, total = load(scores, node, like), lowest, zero
        for entry in range(start, end):
            score = own + load(scores, nodes + sources[entry], like)
            score = where(score > zero, score, slope * score)
            store(shares, entry, score)
            largest = where(largest > score, largest, score)
        for entry in range(start, end):
            power = exp_of_negative(load(shares, entry, like) - largest)
            store(shares, entry, power)
            total = total + power
        each = one / total
        for column in range(width):
            store(mixed, column, zero)
        for entry in range(start, end):
            share, at = load(shares, entry, like) * each, sources[entry] * width
            falls = first_kept > load(levels, entry, like)
            store(shares, entry, where(falls, zero - share, share))
            weight = where(falls, zero, share * scale)
            for column in range(width):
                store(mixed, column, load(mixed, column, like) + weight * load(rows, at + column, like))
        if out.shape[1] == 1:
            for column in range(width):
                out[node, 0, column] = mixed[column].sum() * numbers[5]
        else:
            for head in range(len(like)):
                for column in range(width):
                    out[node, head, column] = mixed[column, head]


@_compiled
def flow_back(
    ends: Any, sources: Any, rows: Any, vectors: Any, scores: Any, shares: Any, numbers: Any, grad: Any,
    to_rows: Any, to_vectors: Any, to_scores: Any, to_h: Any, like: Any,
) -> None:  # fmt: skip
    """The gradients. Those of rows, vectors and scores are added to zeros; `to_h` is the first, laid out as h is."""
    nodes, width, end = len(ends), len(rows) // len(ends), 0
    zero, slope, scale = spread(numbers[0], like), spread(numbers[2], like), spread(numbers[3], like)
    longest = ends[0]
    for node in range(1, nodes):
        longest = max(longest, ends[node] - ends[node - 1])
    flows, wanted = np.empty((longest, len(like)), rows.dtype), np.empty((width, len(like)), rows.dtype)
    for node in range(nodes):
        start, end = end, ends[node]
        total = to_target = zero
        if grad.shape[1] == 1:
            for column in range(width):
                store(wanted, column, spread(grad[node, 0, column] * numbers[5], like))
        else:
            for column in range(width):
                for head in range(len(like)):
                    wanted[column, head] = grad[node, head, column]
        for entry in range(start, end):
            share, at = load(shares, entry, like), sources[entry] * width
            weight, product = where(share > zero, share * scale, zero), zero
            for column in range(width):
                pull = load(wanted, column, like)
                product = product + pull * load(rows, at + column, like)
                store(to_rows, at + column, load(to_rows, at + column, like) + weight * pull)
            flow = weight * product
            store(flows, entry - start, flow)
            total = total + flow
        own = load(scores, node, like)
        for entry in range(start, end):
            share, source = load(shares, entry, like), nodes + sources[entry]
            flow = load(flows, entry - start, like) - where(share > zero, share, zero - share) * total
            flow = where(own + load(scores, source, like) > zero, flow, slope * flow)
            to_target = to_target + flow
            store(to_scores, source, load(to_scores, source, like) + flow)
        store(to_scores, node, to_target)
    for node in range(nodes):
        for part in range(2):
            flow = load(to_scores, part * nodes + node, like)
            for column in range(width):
                at, of = node * width + column, part * width + column
                store(to_rows, at, load(to_rows, at, like) + flow * load(vectors, of, like))
                store(to_vectors, of, load(to_vectors, of, like) + flow * load(rows, at, like))
        for head in range(len(like)):
            for column in range(width):
                to_h[node, head, column] = to_rows[node * width + column, head]
