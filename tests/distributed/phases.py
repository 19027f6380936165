"""The exact transition matrix of each phase, from the numbers that the code itself works out on its pieces."""

from functools import reduce

import numpy as np
import torch
from scipy.stats import beta as beta_law
from torch import Tensor

from mhaug.distributed.divided import DividedPart
from mhaug.distributed.local_moves import settle_flip, settle_swap, weigh_flip, weigh_swap
from mhaug.distributed.resample_whole import log_acceptance
from mhaug.distributed.tilt import left_over
from mhaug.distributed.workplace import Workplace
from mhaug.sampling.compiled.counts import log_mass
from mhaug.sampling.target import log_subsets
from sampling.enumeration import all_masks, transition_matrix


def log_tilt_law(state: DividedPart, tilt: float) -> Tensor:
    """log density of the tilt in each state; a constant where λ' = 0, as the tilt is then always 0."""
    weight, dropped = state.count_weight, (~all_masks(state.units)).sum(1).numpy()
    if weight == 0:
        return torch.zeros(len(dropped)).double()
    theta = 1.0 / (1.0 + np.exp(-tilt / weight))
    law = beta_law.logpdf(theta, weight * dropped + 1.0, weight * (state.units - dropped) + 1.0)
    return torch.from_numpy(law)


def inside_matrix(state: DividedPart, turn: int, tilt: float, *, moves: int = 3, flips: float = 0.5) -> Tensor:
    """All parts move at once, each from where everything stood at the start of the phase; then one decision."""
    size, masks = 2**state.units, all_masks(state.units)
    states, places = torch.arange(size), state.places[turn].values()
    together = torch.ones(size, size, dtype=torch.float64)
    moved = reduce(torch.bitwise_or, [_bits(place) for place in places])
    for place in places:
        mine = torch.linalg.matrix_power(_one_move(state, place, tilt, flips), moves)
        # the state that this part alone would have led to
        seen = (states.unsqueeze(1) & ~_bits(place)) | (states & _bits(place))
        together *= mine.gather(1, seen)
    stays = (states.unsqueeze(1) & ~moved) == (states & ~moved)
    counts = (~masks).sum(1).tolist()
    left = torch.tensor([left_over(count, state.units, state.count_weight) for count in counts], dtype=torch.float64)
    return transition_matrix((together * stays).log(), left - left.unsqueeze(1))


def resample_matrix(state: DividedPart, step_size: float) -> Tensor:
    """The mass of a uniform subset, and the code's own ratio."""
    masks = all_masks(state.units)
    counts = (~masks).sum(1)
    proposal, ratio = (torch.empty(len(masks), len(masks)).double() for _ in range(2))
    egos = [state.ego_term(kept) for kept in masks.numpy()]
    for row, kept in enumerate(masks.numpy()):
        state.put(kept.copy())
        each = [log_acceptance(state, *pair, step_size) for pair in zip(counts.tolist(), egos, strict=True)]
        ratio[row] = torch.tensor(each, dtype=torch.float64)
        walk = [log_mass(count, int(counts[row]), state.units, step_size) for count in counts.tolist()]
        proposal[row] = torch.tensor(walk, dtype=torch.float64) - log_subsets(state.units, counts)
    return transition_matrix(proposal, ratio)


def _bits(place: Workplace) -> Tensor:
    return torch.tensor(sum(1 << int(unit) for unit in place.movable))


def _one_move(state: DividedPart, place: Workplace, tilt: float, flips: float) -> Tensor:
    """One elementary move of one part, over all states of the whole graph."""
    of_edges, count, part = state.part == "edges", place.piece.movable, place.arrays
    masks = all_masks(state.units).numpy()
    moves = torch.zeros(len(masks), len(masks), dtype=torch.float64)
    names = [1 << int(unit) for unit in place.movable]
    for row, kept in enumerate(masks):
        place.load(kept)
        for one in range(count):
            accepted = min(1.0, float(np.exp(weigh_flip(part, one, tilt, of_edges))))
            settle_flip(part, one, False)
            moves[row, row ^ names[one]] += flips / count * accepted
            for other in range(one):
                if kept[place.movable[one]] != kept[place.movable[other]]:
                    accepted = min(1.0, float(np.exp(weigh_swap(part, one, other, of_edges))))
                    settle_swap(part, one, other, False, of_edges)
                    moves[row, row ^ names[one] ^ names[other]] += 2 * (1 - flips) / count**2 * accepted
    return moves + torch.diag(1.0 - moves.sum(1))
