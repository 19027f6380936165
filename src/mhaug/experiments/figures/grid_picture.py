"""How Figure 5 is drawn: for each target edge by edge, on the grid, and on a grid small enough to count."""

from typing import TYPE_CHECKING, Any

from mhaug.experiments.figures.canvas import COLOURS, WIDTH, figure
from mhaug.experiments.figures.request import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(record: Record) -> "Figure":
    """Bars are the chain, the line is the target. A target has two rows: all edges above, the two grids below."""
    weights = sorted({row["count_weight"] for row in record["grids"]}, reverse=True)
    heights = (1.0, 1.25) * len(weights)
    picture, axes = figure(2 * len(weights), 2, size=(WIDTH, 4.6 * len(weights)), height_ratios=heights)
    for place, weight in enumerate(weights):
        small, large = (row for row in record["grids"] if row["count_weight"] == weight)
        above, (left, right) = _joined(picture, axes, 2 * place), axes[2 * place + 1]
        _bars(above, large)
        effective = f"{large['independent_effective']:,.0f} effective draws"
        edges = f"{large['rows']} × {large['columns']}: all {len(large['chain'])} edges"
        _words(above, large, f"λ₂ = {weight:g}, {edges}, by target ({effective})")
        _map(picture, left, large)
        _bars(right, small)
        _words(right, small, f"λ₂ = {weight:g}, {small['rows']} × {small['columns']}: target by enumeration")
        above.legend(loc="upper right", ncols=2)
    return picture


def _joined(picture: "Figure", axes: Any, row: int) -> Any:
    """One place as wide as the figure, instead of the two of this row."""
    grid = axes[row, 0].get_gridspec()
    for each in axes[row]:
        each.remove()
    axis = picture.add_subplot(grid[row, :])
    axis.spines[["top", "right"]].set_visible(False)
    return axis


def _bars(axis: Any, row: Record) -> None:
    """Edges in the order of the target's probability; those that a symmetry makes alike have the same."""
    order = sorted(range(len(row["target"])), key=lambda edge: row["target"][edge])
    chain, target = ([row[name][edge] for edge in order] for name in ("chain", "target"))
    places = list(range(len(order)))
    axis.bar(places, chain, width=1.0, color="#9CC5E3", edgecolor="white", lw=0.3, label="chain")
    axis.step(places, target, where="mid", color=COLOURS[1], lw=1.6, label="target, without a chain")
    axis.set(xlabel="edge", ylabel="drop probability", xlim=(-0.7, len(order) - 0.3), ylim=(0, None))
    axis.locator_params(axis="x", integer=True)


def _words(axis: Any, row: Record, title: str) -> None:
    axis.set_title(title, loc="left")
    rms, largest = row["root_mean_square_in_errors"], row["largest_in_errors"]
    words = f"off by {rms:.2f} standard errors\n(root mean square), {largest:.1f} at most"
    axis.text(0.02, 0.97, words, fontsize=8, transform=axis.transAxes, va="top")
    axis.set_ylim(0, 1.35 * max(row["chain"] + row["target"]))


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
    axis.set_title(f"{row['rows']} × {row['columns']}: drop probability, chain")
    axis.axis("off")
    bar = picture.colorbar(colours, ax=axis, shrink=0.8, pad=0.03)
    bar.outline.set_visible(False)


def _without_the_palest(cmap: Any) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([cmap(0.25 + 0.75 * step / 255) for step in range(256)])
