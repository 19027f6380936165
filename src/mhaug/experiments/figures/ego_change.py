"""Figure 2: how the change ratio of an ego-graph is counted (Eq. 5), on a graph that can be checked by hand.

The drawing is not in the paper's source; a root with three children, which have 2, 2 and 1 children of their own,
gives all numbers of its caption.
"""

import math
from typing import TYPE_CHECKING, Any

import torch

from mhaug.experiments.figures.canvas import COLOURS, WIDTH, figure
from mhaug.experiments.figures.request import Record, Request, at_least, at_most

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEAR = [(0, 1), (0, 2), (0, 3)]
FAR = [(1, 4), (1, 5), (2, 6), (2, 7), (3, 8)]
HOPS = 2
CAPTION = {"far": 13, "near": 6}  # messages that are left of 15
# panel -> (words, edges that are dropped, hops so far)
PANELS: dict[str, tuple[str, list[tuple[int, int]], int]] = {
    "start": ("(a) each node has 1 message", [], 0),
    "hop-1": ("after 1 hop", [], 1),
    "hop-2": ("after 2 hops", [], 2),
    "far": ("(b) two far edges dropped", [(1, 4), (3, 8)], 2),
    "near": ("(c) two near edges dropped", [(0, 2), (0, 3)], 2),
}


def measure(request: Request) -> Record:
    """Messages held by every node in every panel, and the change ratio of the centre."""
    from mhaug.sampling.ego_change import ego_change, messages_received
    from mhaug.sampling.subgraph import UnitGraph

    pairs = torch.tensor(NEAR + FAR).T
    graph = UnitGraph.from_edge_index(torch.cat([pairs, pairs.flip(0)], 1), 9)
    units = [tuple(pair) for pair in graph.unit_edges.T.tolist()]
    messages, ratios = {}, {}
    for panel, (_, dropped, hops) in PANELS.items():
        kept = torch.tensor([unit not in dropped for unit in units])
        held = messages_received(graph, hops, edge_kept=kept) if hops else torch.ones(9, dtype=torch.long)
        messages[panel] = held.tolist()
        if hops == HOPS:
            ratios[panel] = float(ego_change(held, messages_received(graph, HOPS))[0])
    counts = [messages[panel][0] for panel in ("hop-2", *CAPTION)]
    off = max(abs(got - said) for got, said in zip(counts, (15, *CAPTION.values()), strict=True))
    claims = [
        at_most("messages at the centre: largest difference from the caption's 15, 13 and 6", off, 0),
        at_least(
            "two near edges change the ego-graph more than two far ones: times", ratios["near"] / ratios["far"], 1
        ),
    ]
    return {"settings": {"hops": HOPS}, "claims": claims, "messages": messages, "ego_change": ratios}


def draw(record: Record) -> "Figure":
    """Five small graphs: three hops of messages above, two ways to drop two edges below."""
    picture, axes = figure(2, 3, size=(WIDTH, 5.3))
    for axis in axes.flat:
        axis.axis("off")
    places = [*axes[0], *axes[1]]
    for axis, (panel, (words, dropped, _)) in zip(places, PANELS.items(), strict=False):
        _graph(axis, record["messages"][panel], dropped)
        axis.set_title(words)
        axis.text(0.5, -0.08, _words(record, panel), transform=axis.transAxes, ha="center", fontsize=9)
    _key(axes[1, 2])
    return picture


def _key(axis: Any) -> None:
    """What the marks mean, in the place that is left."""
    marks: dict[str, dict[str, Any]] = {
        "node i, the centre": {"marker": "o", "ms": 11, "mfc": COLOURS[4], "mec": "#444444", "ls": ""},
        "other nodes; numbers are\nmessages held": {
            "marker": "o", "ms": 9, "mfc": "#D9E8F2", "mec": "#444444", "ls": "",
        },
        "dropped edge": {"color": "#BBBBBB", "ls": (0, (2, 2)), "lw": 1.5},
        "faded: no path to\nthe centre is left": {"color": "#444444", "lw": 1.8, "alpha": 0.35},
    }  # fmt: skip
    for words, style in marks.items():
        axis.plot([], [], label=words, **style)
    axis.legend(loc="center", labelspacing=1.2)


def _words(record: Record, panel: str) -> str:
    whole, held = record["messages"]["hop-2"][0], record["messages"][panel][0]
    if panel in ("far", "near"):
        return f"Δ = 1 − {held}/{whole} = {record['ego_change'][panel]:.2f}"
    power = {"start": "", "hop-1": r"\tilde{A}", "hop-2": r"\tilde{A}^2"}[panel]
    return rf"$({power}\mathbf{{1}})_i$ = {held}"


def _graph(axis: Any, messages: list[int], dropped: list[tuple[int, int]]) -> None:
    """Nodes that no path joins to the centre any more are faded, as are dropped edges."""
    places = _places()
    reached = {0}
    for one, other in NEAR + FAR:
        gone = (one, other) in dropped
        if not gone and one in reached:
            reached.add(other)
        style = {"color": "#BBBBBB", "ls": (0, (2, 2)), "lw": 1.5} if gone else {"color": "#444444", "lw": 1.8}
        faded = not gone and one not in reached
        axis.plot(*zip(places[one], places[other], strict=True), zorder=1, alpha=0.35 if faded else 1.0, **style)
    for node, place in enumerate(places):
        colour = COLOURS[4] if node == 0 else "#D9E8F2"
        shade = 1.0 if node in reached else 0.35
        axis.scatter(*place, s=320 if node == 0 else 230, color="white", edgecolors="none", zorder=2)
        axis.scatter(*place, s=320 if node == 0 else 230, color=colour, edgecolors="#444444", alpha=shade, zorder=3)
        weight = "bold" if node == 0 else "normal"
        axis.text(*place, str(messages[node]), ha="center", va="center", zorder=4, weight=weight, alpha=shade)
    axis.set(xlim=(-2.4, 2.4), ylim=(-2.3, 2.3), aspect="equal")
    axis.axis("off")


def _places() -> list[tuple[float, float]]:
    """The centre, its children on a circle, and theirs on a wider one."""
    turns = {1: 90.0, 2: 210.0, 3: 330.0, 4: 65.0, 5: 115.0, 6: 185.0, 7: 235.0, 8: 330.0}
    rings = {node: 1.05 if node <= 3 else 2.0 for node in turns}
    return [(0.0, 0.0)] + [
        (rings[node] * math.cos(math.radians(turn)), rings[node] * math.sin(math.radians(turn)))
        for node, turn in turns.items()
    ]
