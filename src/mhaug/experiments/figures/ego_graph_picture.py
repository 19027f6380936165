"""How Figure 3 is drawn: the ego-graph, a sample of each target, and the drop probabilities as mini-maps."""

from typing import TYPE_CHECKING, Any

from mhaug.experiments.figures.canvas import COLOURS, WIDTH, figure
from mhaug.experiments.figures.request import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CENTRE, KEPT, FADED = COLOURS[4], "#3A3A3A", "#D4D4D4"
MINI = 0.48  # size of a mini-map, as a share of the graph's


def draw(record: Record) -> "Figure":
    """The original graph, then one panel for each target."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    picture, axes = figure(2, 2, size=(WIDTH, WIDTH * ((1 + MINI) * _height(record) + 0.13)))
    settings = record["settings"]
    _graph(axes[0, 0], record, dropped=set(), reached=set(range(settings["nodes"])))
    graph = f"node {record['node']} of {record['dataset']}\n3-hop ego-graph\n{settings['nodes']} nodes"
    _title(axes[0, 0], record, f"{graph}\n{settings['edges']} edges")
    _key(axes[0, 0])
    colours = ScalarMappable(Normalize(0, 1), _map())
    for axis, target in zip(list(axes.flat)[1:], record["targets"].values(), strict=True):
        _graph(axis, record, dropped=set(target["sample_dropped"]), reached=set(target["sample_reaches"]))
        _mini_map(axis, record, target["drop_probability"], colours)
        words = f"μ = {target['strength']:g}, σ = {target['spread']:g}\n{settings['dropped']} edges dropped\n"
        mean = f"mean ego change {target['ego_change']:.2f}\nmean nodes left {target['nodes_left']:.1f}"
        _title(axis, record, words + mean)
    bar = picture.colorbar(colours, ax=axes, location="bottom", shrink=0.5, aspect=35, pad=0.02)
    bar.set_label("drop probability (small maps)")
    bar.outline.set_visible(False)
    return picture


def _map() -> Any:
    """Light to dark: the order is the same in grey."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("drop", ["#DDDDDD", "#8FB8DE", "#0072B2", "#001F3D"])


def _graph(axis: Any, record: Record, *, dropped: set[int], reached: set[int]) -> None:
    """Kept edges dark, dropped ones dashed, what is no longer in the ego-graph faded."""
    places = record["places"]
    for edge, ends in enumerate(zip(*record["unit_edges"], strict=True)):
        line = list(zip(*(places[end] for end in ends), strict=True))
        if edge in dropped:
            axis.plot(*line, color="#B0B0B0", lw=1.0, ls=(0, (1.5, 1.5)), zorder=1)
        else:
            axis.plot(*line, color=KEPT if reached.issuperset(ends) else FADED, lw=1.3, zorder=2)
    colours = [COLOURS[0] if node in reached else FADED for node in range(len(places))]
    axis.scatter(*zip(*places, strict=True), s=26, c=colours, edgecolors="white", lw=0.5, zorder=3)
    axis.scatter(*places[record["centre"]], s=110, color=CENTRE, edgecolors=KEPT, zorder=4)
    # room above for words and the mini-map
    axis.set(xlim=(-0.03, 1.03), ylim=(-0.03, (1 + MINI) * _height(record) + 0.1), aspect="equal")
    axis.axis("off")


def _height(record: Record) -> float:
    return max(place[1] for place in record["places"])


def _title(axis: Any, record: Record, words: str) -> None:
    axis.text(0.0, (1 + MINI) * _height(record) + 0.08, words, va="top", linespacing=1.35)


def _key(axis: Any) -> None:
    marks = {
        "centre": {"marker": "o", "ms": 9, "mfc": CENTRE, "mec": KEPT, "ls": ""},
        "dropped edge": {"color": "#B0B0B0", "ls": (0, (1.5, 1.5)), "lw": 1.0},
        "no longer within\n3 hops": {"marker": "o", "ms": 5, "color": FADED, "lw": 1.3},
    }
    for words, style in marks.items():
        axis.plot([], [], label=words, **style)
    axis.legend(loc="upper right", bbox_to_anchor=(1.02, 1.02))


def _mini_map(axis: Any, record: Record, probability: list[float], colours: Any) -> None:
    places, height = record["places"], _height(record)
    box = (1 - MINI, height + 0.05, MINI, MINI * height + 0.03)
    small = axis.inset_axes(box, transform=axis.transData)
    # the likeliest edges last, on top
    for edge in sorted(range(len(probability)), key=lambda edge: probability[edge]):
        ends = [places[nodes[edge]] for nodes in record["unit_edges"]]
        width = 0.8 + 1.6 * probability[edge]
        small.plot(*zip(*ends, strict=True), color=colours.to_rgba(probability[edge]), lw=width)
    small.scatter(*places[record["centre"]], s=16, color=CENTRE, edgecolors=KEPT, lw=0.5, zorder=4)
    small.set(xlim=(-0.06, 1.06), ylim=(-0.06, height + 0.06), xticks=[], yticks=[])
    for side in small.spines.values():
        side.set(visible=True, color="#888888", lw=0.7)
