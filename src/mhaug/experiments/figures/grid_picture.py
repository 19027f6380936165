"""How Figure 5 is drawn: one row for each target; edge by edge, on the grid, and on a grid small enough to count."""

from typing import TYPE_CHECKING, Any

from mhaug.experiments.figures.canvas import COLOURS, figure
from mhaug.experiments.figures.request import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(record: Record) -> "Figure":
    """Bars are the chain, the line is the target."""
    weights = sorted({row["count_weight"] for row in record["grids"]}, reverse=True)
    picture, axes = figure(len(weights), 3, size=(13, 3.4 * len(weights)), width_ratios=(2.0, 1.15, 1.0))
    for line, weight in zip(axes, weights, strict=True):
        small, large = (row for row in record["grids"] if row["count_weight"] == weight)
        _bars(line[0], large)
        effective = f"{large['independent_effective']:,.0f} effective draws"
        _words(line[0], large, f"λ₂ = {weight:g}: all {len(large['chain'])} edges, by target ({effective})")
        _map(picture, line[1], large)
        _bars(line[2], small)
        _words(line[2], small, f"{small['rows']} × {small['columns']}: target by enumeration")
    axes[0, 0].legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(0.0, 0.88))
    return picture


def _bars(axis: Any, row: Record) -> None:
    """Edges in the order of the target's probability; those that a symmetry makes alike have the same."""
    order = sorted(range(len(row["target"])), key=lambda edge: row["target"][edge])
    chain, target = ([row[name][edge] for edge in order] for name in ("chain", "target"))
    places = list(range(len(order)))
    axis.bar(places, chain, width=1.0, color="#9CC5E3", edgecolor="white", lw=0.3, label="chain")
    axis.step(places, target, where="mid", color=COLOURS[1], lw=1.6, label="target, without a chain")
    axis.set(xlabel="edge", ylabel="drop probability", xlim=(-0.7, len(order) - 0.3), ylim=(0, None))


def _words(axis: Any, row: Record, title: str) -> None:
    axis.set_title(title, fontsize=10, loc="left")
    rms, largest = row["root_mean_square_in_errors"], row["largest_in_errors"]
    words = f"off by {rms:.2f} standard errors (root mean square), {largest:.1f} at most"
    axis.text(
        0.02,
        0.97,
        words if len(row["chain"]) > 40 else words.replace(" (", "\n("),
        fontsize=8,
        transform=axis.transAxes,
        va="top",
    )
    axis.set_ylim(0, 1.3 * max(row["chain"] + row["target"]))


def _map(picture: "Figure", axis: Any, row: Record) -> None:
    """The chain's probabilities on the grid: dark and thick edges drop more often."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    low, high = min(row["chain"]), max(row["chain"])
    colours = ScalarMappable(Normalize(low, high), "Blues")
    for edge, ends in enumerate(zip(*row["unit_edges"], strict=True)):
        columns, rows = [end % row["columns"] for end in ends], [-(end // row["columns"]) for end in ends]
        share = (row["chain"][edge] - low) / (high - low)
        # the palest colours of the map would vanish on white
        axis.plot(
            columns, rows, color=colours.cmap(0.25 + 0.75 * share), lw=1.2 + 2.8 * share, solid_capstyle="round"
        )
    colours.set_cmap(_without_the_palest(colours.cmap))
    axis.set(aspect="equal")
    axis.set_title(f"{row['rows']} × {row['columns']}, chain", fontsize=10)
    axis.axis("off")
    bar = picture.colorbar(colours, ax=axis, shrink=0.75, pad=0.03)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8)


def _without_the_palest(cmap: Any) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([cmap(0.25 + 0.75 * step / 255) for step in range(256)])
