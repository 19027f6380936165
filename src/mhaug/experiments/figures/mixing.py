"""Beyond the paper: how well its move and the mixture sample targets from sharp to flat, for the same work.

Work is counted, not clocked (`sampling/work.py`), so that the same seed gives the same figure; the clock's ratio for
this run is among the numbers, for whoever wants to convert.
"""

from typing import TYPE_CHECKING, Any

from mhaug.experiments.figures.canvas import COLOURS, WIDTH, figure
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
# where chains forget slowly: the sharpest target, the border of the two regimes, and the flattest, where only the
# count is remembered, and walks by σ_Δ
SLOW, TIMES = (0.1, 0.5, 0.7, 100.0), 3
AGREED = 1.02


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
        long = TIMES if spread in SLOW else 1
        effort: dict[str, Any] = {"draws": long * draws, "warmup": long * warmup * steps, "thin": steps}
        trace = sampler.sample(data, **effort, chains=chains, seed=request.seed)
        rows.append({"spread": spread, "moves": moves, "draws": chains * long * draws, **_mixed(trace)})
    settings = {"strength": STRENGTH, "hops": HOPS, "chains": chains, "resamples_a_round": thin}
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
    but_the_sharpest = max(row["r_hat"] for row in ours if row["spread"] > SPREADS[0])
    return [
        at_most(
            f"chains of the mixture agree within R-hat {AGREED} at every σ: largest",
            max(row["r_hat"] for row in ours),
            AGREED,
        ),
        at_most(f"within R-hat {R_HAT_LIMIT} but at σ = {SPREADS[0]}: largest", but_the_sharpest, R_HAT_LIMIT),
        at_least("those of the paper's move are far apart for σ up to 0.3: smallest R-hat", min(sharp), 1.5),
        at_most(f"and within R-hat {AGREED} for σ from 1 up: largest", max(flat), AGREED),
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
    picture, axes = figure(1, 3, size=(WIDTH, 3.1))
    agreement, worth, accepted = axes[0]
    for moves, (words, colour, mark) in STYLES.items():
        spreads, rows = _rows(record, moves)
        options = {"color": colour, "label": words}
        agreement.plot(spreads, [max(row["r_hat"] - 1, 1e-4) for row in rows], mark, **options)
        worth.plot(spreads, [1000 * row["ess"] / row["draws"] for row in rows], mark, **options)
    for (moves, kind), (words, mark) in PROPOSALS.items():
        spreads, rows = _rows(record, moves)
        rates = [row["acceptance"][f"{kind}/edges"] for row in rows]
        accepted.plot(spreads, rates, mark, color=STYLES[moves][1], label=words)
    _finish(axes[0], record)
    return picture


def _rows(record: Record, moves: str) -> tuple[list[float], list[Record]]:
    rows = [row for row in record["rows"] if row["moves"] == moves]
    return [row["spread"] for row in rows], rows


def _finish(axes: Any, record: Record) -> None:
    settings = record["settings"]
    for limit, style in ((R_HAT_LIMIT, ":"), (AGREED, "--")):
        axes[0].axhline(limit - 1, color="#777777", lw=1, ls=style, label=f"R-hat {limit:g}")
    axes[0].set(yscale="log", title="do chains agree?", ylabel="R-hat − 1, worst of three")
    axes[1].set(yscale="log", title="worth of 1,000 draws", ylabel="effective, worst of three")
    axes[2].set(yscale="log", title="proposals accepted", ylabel="share")
    for axis in axes:
        axis.set(xscale="log", xlabel=f"σ  ({record['dataset']}, μ = {settings['strength']:g})")
    # below, where no line runs through them
    axes[0].legend(loc="upper center", bbox_to_anchor=(0.45, -0.22))
    axes[2].legend(loc="upper center", bbox_to_anchor=(0.45, -0.22))
