"""Beyond the paper: how well its move and the mixture sample targets from sharp to flat, for the same work.

Work is counted, not clocked (`sampling/work.py`), so that the same seed gives the same figure; the clock's ratio for
this run is among the numbers, for whoever wants to convert.
"""

from typing import TYPE_CHECKING, Any

from mhaug.experiments.figures.canvas import COLOURS, figure
from mhaug.experiments.figures.request import Record, Request, at_least, at_most
from mhaug.sampling.diagnostics import R_HAT_LIMIT
from mhaug.sampling.moves.mixture import MOST_RESAMPLES, SWEEP
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.target import EgoTerm
from mhaug.sampling.trace import Trace
from mhaug.sampling.work import resample_work

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRENGTH, HOPS = 0.3, 2
SPREADS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0, 10.0, 100.0)
MOVES = ("resample", "mixture")
WATCHED = ("log_prob", "ego_edge_change", "ego_edge_spread")


def measure(
    request: Request, *, spreads: tuple[float, ...] = SPREADS, draws: int = 1200, warmup: int = 400, chains: int = 4
) -> Record:
    """The worst R-hat and effective size of three quantities, for each spread and move."""
    data = request.graph()
    graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
    work = resample_work(graph, HOPS, "edges")
    # a round of the mixture does this much, in resamples
    thin = max(1, round(min(SWEEP * graph.num_units / work, MOST_RESAMPLES)))
    rows = []
    for spread, moves in request.counted([(spread, moves) for spread in spreads for moves in MOVES], "chains"):
        sampler = MHAug(edges=EgoTerm(STRENGTH, 0.0, spread), hops=HOPS, moves=moves)
        steps = thin if moves == "resample" else 1
        trace = sampler.sample(data, draws=draws, warmup=warmup * steps, thin=steps, chains=chains, seed=request.seed)
        rows.append({"spread": spread, "moves": moves, **_mixed(trace)})
    settings = {"strength": STRENGTH, "hops": HOPS, "chains": chains, "draws": draws, "resamples_a_round": thin}
    return {"settings": settings, "claims": _claims(rows), "rows": rows}


def _mixed(trace: Trace) -> Record:
    summary = trace.summary()
    watched = [summary.quantities[name] for name in WATCHED]
    return {
        "r_hat": max(each.r_hat for each in watched),
        "ess": min(each.ess_bulk for each in watched),
        "log_prob": summary.quantities["log_prob"].mean,
        "delivered": summary.delivered["edges"],
        "never_moved": summary.stuck["edges"] / summary.units["edges"],
        "acceptance": summary.acceptance,
        "seconds": summary.seconds,
    }


def _claims(rows: list[Record]) -> list[Record]:
    ours = [row for row in rows if row["moves"] == "mixture"]
    papers = [row for row in rows if row["moves"] == "resample"]
    sharp, flat = ([row["r_hat"] for row in papers if test(row["spread"])] for test in (_sharp, _flat))
    return [
        at_most("the mixture agrees with itself at every σ: largest R-hat", max(row["r_hat"] for row in ours), 1.1),
        at_least("the paper's move does not for σ up to 0.3: smallest R-hat", min(sharp), 1.5),
        at_most("it does for σ from 1 up: largest R-hat", max(flat), 1.05),
    ]


def _sharp(spread: float) -> bool:
    return spread <= 0.3


def _flat(spread: float) -> bool:
    return spread >= 1.0


STYLES = {"resample": ("the paper's move", COLOURS[1], "s--"), "mixture": ("mixture", COLOURS[0], "o-")}
# the proposals of the last panel: moves, kind -> words, mark
PROPOSALS = {
    ("resample", "resample"): ("the paper's move", "s--"),
    ("mixture", "flip"): ("mixture: flips", "o-"),
    ("mixture", "swap"): ("mixture: swaps", "^-"),
}


def draw(record: Record) -> "Figure":
    """R-hat, effective draws and acceptance against σ."""
    picture, axes = figure(1, 3, size=(13, 3.9))
    agreement, worth, accepted = axes[0]
    for moves, (words, colour, mark) in STYLES.items():
        spreads, rows = _rows(record, moves)
        options = {"color": colour, "label": words, "ms": 5}
        agreement.plot(spreads, [max(row["r_hat"] - 1, 1e-4) for row in rows], mark, **options)
        worth.plot(spreads, [row["ess"] for row in rows], mark, **options)
    for (moves, kind), (words, mark) in PROPOSALS.items():
        spreads, rows = _rows(record, moves)
        rates = [row["acceptance"][f"{kind}/edges"] for row in rows]
        accepted.plot(spreads, rates, mark, color=STYLES[moves][1], label=words, ms=5)
    _finish(axes[0], record)
    return picture


def _rows(record: Record, moves: str) -> tuple[list[float], list[Record]]:
    rows = [row for row in record["rows"] if row["moves"] == moves]
    return [row["spread"] for row in rows], rows


def _finish(axes: Any, record: Record) -> None:
    settings = record["settings"]
    draws = settings["chains"] * settings["draws"]
    axes[0].axhline(R_HAT_LIMIT - 1, color="#777777", lw=1.2, ls=":", label="usual limit")
    axes[0].set(yscale="log", title="do chains from far apart agree?", ylabel="R-hat − 1 (worst of three)")
    axes[1].set(yscale="log", title=f"what are {draws:,} draws worth?", ylabel="effective draws (worst of three)")
    axes[2].set(yscale="log", title="proposals accepted", ylabel="share of proposals")
    for axis in axes:
        axis.set(xscale="log", xlabel=f"σ  ({record['dataset']}, μ = {settings['strength']:g})")
        axis.title.set_fontsize(11)
    axes[0].legend(frameon=False, fontsize=9, loc="upper right")
    axes[2].legend(frameon=False, fontsize=9, loc="lower right")
