"""Has it converged, does it move, what does it deliver: the numbers behind `trace.summary()`, through ArviZ."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mhaug.sampling.trace import QUANTITIES, Trace

# Rank-normalised split R-hat and effective sample sizes that people ask for (Vehtari et al. 2021).
R_HAT_LIMIT, ESS_WANTED, FROZEN_BELOW = 1.01, 400, 0.01


@dataclass(frozen=True)
class Quantity:
    """One number of the chain. A quantity that never changed has ESS 0, not the perfect score that formulas give."""

    mean: float
    sd: float
    mcse: float
    ess_bulk: float
    ess_tail: float
    r_hat: float


@dataclass(frozen=True)
class Summary:
    """What a trace has to say; `str()` is a table, `to_dict()` is plain JSON."""

    quantities: dict[str, Quantity]
    acceptance: dict[str, float]  # "move/part" -> share of proposals accepted
    strength: dict[str, float]  # part -> μ, where each ego-graph is pulled to
    strength_slope: dict[str, float]  # part -> c, where it is pulled to μ + c ε_i
    delivered: dict[str, float]  # part -> mean ego change that the chain delivers
    delivered_spread: dict[str, float]  # part -> standard deviation of Δ_i, over nodes and draws together
    ess_per_second: dict[str, float]  # of each quantity, warm-up included
    stuck: dict[str, int]  # part -> units that never moved in any chain
    units: dict[str, int]  # part -> units
    seconds: float
    advice: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: numbers that do not exist are None."""
        record: dict[str, Any] = asdict(self)
        for values in record["quantities"].values():
            values.update({name: None if math.isnan(value) else value for name, value in values.items()})
        return {**record, "advice": list(self.advice)}

    def __str__(self) -> str:
        lines = [f"{'':16}{'mean':>10}{'sd':>10}{'mcse':>10}{'ess bulk':>10}{'ess tail':>10}{'ess/s':>8}{'r-hat':>8}"]
        for name, row in self.quantities.items():
            sizes = f"{row.ess_bulk:10.0f}{row.ess_tail:10.0f}{self.ess_per_second[name]:8.0f}{row.r_hat:8.3f}"
            lines.append(f"{name:16}{row.mean:10.4g}{row.sd:10.3g}{row.mcse:10.2g}{sizes}")
        for part, units in self.units.items():
            slope = self.strength_slope[part]
            wish = f"pulled to {self.strength[part]:g}" + (f" {slope:+g} ε" if slope else "")
            wish += f", delivered {self.delivered[part]:.3f} ± {self.delivered_spread[part]:.3f} over nodes and draws"
            lines.append(f"{part}: {wish}; {self.stuck[part]} of {units} units never moved")
        lines += [f"accepted {name}: {rate:.1%}" for name, rate in self.acceptance.items()]
        return "\n".join([*lines, *self.advice])


def summarise(trace: Trace) -> Summary:
    """Everything that the trace says about its own chains."""
    terms = {part: trace.settings["sampler"][part] for part in ("edges", "nodes")}
    parts = [part for part, term in terms.items() if term is not None]
    names = [name for name in QUANTITIES if name == "log_prob" or any(part[:-1] in name for part in parts)]
    quantities = {name: describe(getattr(trace, name).numpy()) for name in names}
    flips = {"edges": trace.edge_flips, "nodes": trace.node_flips}
    acceptance = {
        name: float(counts.sum()) / max(int(trace.proposed[name].sum()), 1) for name, counts in trace.accepted.items()
    }
    units = {part: int(flips[part].shape[1]) for part in parts}
    empty = [f"There is nothing to drop: the graph has no {part}." for part in parts if not units[part]]
    return Summary(
        quantities=quantities,
        acceptance=acceptance,
        strength={part: terms[part]["strength"] for part in parts},
        # a trace of an earlier version has none
        strength_slope={part: terms[part].get("strength_slope", 0.0) for part in parts},
        delivered={part: quantities[f"ego_{part[:-1]}_change"].mean for part in parts},
        delivered_spread={part: _pooled_spread(trace, part[:-1]) for part in parts},
        ess_per_second={name: row.ess_bulk / trace.settings["seconds"] for name, row in quantities.items()},
        stuck={part: int((flips[part].sum(0) == 0).sum()) for part in parts},
        units=units,
        seconds=trace.settings["seconds"],
        advice=tuple(empty or _advice(quantities, acceptance, trace.log_prob.shape[0])),
    )


def _pooled_spread(trace: Trace, part: str) -> float:
    """All Δ_i of all draws: the spread over nodes, and that of their mean over draws."""
    within = getattr(trace, f"ego_{part}_spread").square().mean()
    between = getattr(trace, f"ego_{part}_change").var(correction=0)
    return math.sqrt(float(within + between))


def describe(draws: np.ndarray) -> Quantity:
    """Mean, spread, and how far to trust them, for draws [chains, draws]."""
    from arviz_stats.base import array_stats

    mean, sd = float(draws.mean()), float(draws.std())
    moved = bool((draws != draws[:, :1]).any())
    if not moved or draws.shape[1] < 4:
        return Quantity(mean, sd, math.nan, 0.0, 0.0, math.nan)
    if draws.shape[0] == 1:
        # one chain is held against itself: its first half against its second
        half = draws.shape[1] // 2
        draws = np.stack([draws[0, :half], draws[0, half : 2 * half]])
    with np.errstate(all="ignore"):
        bulk = array_stats.ess(draws, chain_axis=0, draw_axis=1)
        tail = array_stats.ess(draws, chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95))
        mcse = array_stats.mcse(draws, chain_axis=0, draw_axis=1)
        r_hat = array_stats.rhat(draws, chain_axis=0, draw_axis=1)
    return Quantity(mean, sd, float(mcse), float(bulk), float(tail), float(r_hat))


def _advice(quantities: dict[str, Quantity], acceptance: dict[str, float], chains: int) -> list[str]:
    parts = {name.split("/")[1] for name in acceptance}
    rates = {part: [rate for name, rate in acceptance.items() if name.endswith(f"/{part}")] for part in parts}
    frozen = sorted(part for part, each in rates.items() if max(each) < FROZEN_BELOW)
    if frozen:
        return [
            f"Frozen: fewer than 1 in 100 proposals accepted ({', '.join(frozen)}). The target is too sharp for this "
            "move: use moves='mixture', or raise spread_floor; do not trust these draws."
        ]
    r_hats = [row.r_hat for row in quantities.values() if not math.isnan(row.r_hat)]
    if not r_hats:
        return ["Too few draws to tell anything. Draw more."]
    worst, smallest = max(r_hats), min(row.ess_bulk for row in quantities.values())
    if worst > R_HAT_LIMIT:
        who = "the chains still disagree" if chains > 1 else "the two halves of the chain disagree"
        wrong = f"R-hat {worst:.3f} > {R_HAT_LIMIT}"
        return [f"Not converged: {who} ({wrong}). Run a longer warm-up, or draw more."]
    if smallest < ESS_WANTED:
        return [f"Converged, but only {smallest:.0f} effective draws ({ESS_WANTED} are usual). Draw more."]
    return []
