"""`aim`: the term whose chain delivers what is asked, found by short chains.

μ is not the mean that a chain delivers, nor is σ the spread: Σ(Δ_i - μ)² / 2σ² competes with the number of subgraphs.
So both are turned until the delivered mean and spread are right.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from mhaug import checks
from mhaug.sampling.chain import Chain
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.target import EgoTerm

SMALLEST, LARGEST = 1e-3, 1e3  # of σ
TRIES, PATIENCE = 60, 5


@dataclass(frozen=True)
class Delivered:
    """What a stretch of the chain gave: mean and standard deviation of Δ_i, over nodes and draws."""

    mean: float
    spread: float


def aim(
    data: Any,
    ego_change: float = 0.3,
    spread: float | None = None,
    *,
    part: str = "edges",
    hops: int = 2,
    tolerance: float = 0.01,
    draws: int = 100,
    seed: int = 0,
) -> EgoTerm:
    """The `EgoTerm` whose delivered mean is `ego_change` and whose delivered spread is `spread`.

    Both are those of the change ratios Δ_i of all nodes in all draws. `spread=None` leaves it as it comes (σ = 1).
    What is found is confirmed by four fresh chains of `draws` draws: their mean, and their spread if it was asked
    for, are within `tolerance`. What no target reaches is refused, with the nearest that was seen.
    """
    checks.number_in(ego_change, "ego_change", 0.0, 1.0)
    checks.one_of(part, "part", ("edges", "nodes"))
    checks.number_in(tolerance, "tolerance", 0.0, open_low=True)
    if spread is not None:
        checks.number_in(spread, "spread", 0.0, 1.0, open_low=True)
    term = EgoTerm(strength=ego_change, spread_floor=1.0 if spread is None else max(spread, SMALLEST))
    nearest, nearest_miss, at_the_end = None, math.inf, 0
    for attempt in range(TRIES):
        # later tries are longer: first find the place, then look closely
        found = _delivered(data, term, part, hops, draws=20 if attempt < TRIES // 2 else draws, seed=seed)
        miss = _miss(found, ego_change, spread)
        if miss <= 0.7 * tolerance:
            confirmed = _delivered(data, term, part, hops, draws=draws, seed=seed + 1 + attempt)
            miss = _miss(confirmed, ego_change, spread)
            if miss <= tolerance:
                return term
        if miss < nearest_miss:
            nearest, nearest_miss = found, miss
        at_the_end = at_the_end + 1 if term.spread_floor in (SMALLEST, LARGEST) else 0
        if at_the_end == PATIENCE:
            break
        term = _turned(term, found, ego_change, spread)
    assert nearest is not None
    asked = f"ego_change {ego_change:g}" + ("" if spread is None else f" with spread {spread:g}")
    raise checks.RequestError(
        f"{asked} is out of reach on this graph (tolerance {tolerance:g}); the nearest that a target delivered is "
        f"ego_change {nearest.mean:.3f} with spread {nearest.spread:.3f}"
    )


def _miss(found: Delivered, ego_change: float, spread: float | None) -> float:
    return max(abs(found.mean - ego_change), 0.0 if spread is None else abs(found.spread - spread))


def _turned(term: EgoTerm, found: Delivered, ego_change: float, spread: float | None) -> EgoTerm:
    """A step towards what is asked: the mean follows μ, the spread follows σ."""
    strength = min(max(term.strength + 0.7 * (ego_change - found.mean), 0.0), 1.0)
    floor = term.spread_floor
    if spread is not None:
        turn = math.exp(max(min(2.0 * (spread - found.spread) / spread, 1.0), -1.0))
        floor = min(max(floor * turn, SMALLEST), LARGEST)
    return replace(term, strength=strength, spread_floor=floor)


def _delivered(data: Any, term: EgoTerm, part: str, hops: int, *, draws: int, seed: int) -> Delivered:
    edges, nodes = (term, None) if part == "edges" else (None, term)
    chain = MHAug(edges=edges, nodes=nodes, hops=hops).chain(data, chains=4, seed=seed)
    for _ in chain.warm_up(max(20, draws // 2)):
        pass
    return _moments(chain, part, draws)


def _moments(chain: Chain, part: str, draws: int) -> Delivered:
    total = squares = 0.0
    for _ in range(draws):
        chain.step()
        change = chain.change(part)
        total += float(change.ego.mean())
        squares += float((change.spread.square() + change.ego.square()).mean())
    mean = total / draws
    return Delivered(mean, math.sqrt(max(squares / draws - mean * mean, 0.0)))
