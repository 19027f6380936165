"""The pictures of docs/sampler.md: chains that are stuck and chains that are not; what a move costs as graphs grow.

    python benchmarks/sampler_plots.py --data-dir ../shared/data

reads `results/sampler/growth.json` (made by `sampler.py`) and writes `mixing.png` and `growth.png` beside it.
"""

import argparse
import json
from pathlib import Path

from mhaug import EgoTerm, MHAug
from mhaug.data.datasets import load_graph
from mhaug.experiments.figures.canvas import COLOURS, figure, save

OUT = Path(__file__).parents[1] / "results" / "sampler"


def mixing(data_dir):
    """Cora: the mean ego change of two chains, from the whole and from the empty graph, for equal work."""
    data = load_graph("cora", data_dir)
    picture, axes = figure(1, 4, size=(13, 3.0), sharey=True)
    for each, spread in zip(axes[0], (0.1, 0.3, 1.0, 10.0), strict=True):
        for colour, moves, thin in ((COLOURS[1], "resample", 8), (COLOURS[0], "mixture", 1)):
            sampler = MHAug(edges=EgoTerm(strength=0.3, spread_floor=spread), moves=moves)
            trace = sampler.sample(data, draws=300, warmup=0, thin=thin, chains=2, seed=0)
            for chain, style in zip(trace.ego_edge_change, ("-", "--"), strict=True):
                label = f"{moves}, from the {'whole' if style == '-' else 'empty'} graph"
                each.plot(chain, color=colour, ls=style, lw=1, label=label)
        each.set_title(f"σ = {spread:g}", fontsize=10)
        each.set_xlabel("round (8 resamples, or their worth)")
    axes[0, 0].set_ylabel("mean ego change")
    axes[0, 0].legend(fontsize=7, frameon=False)
    save(picture, OUT / "mixing.png")


def growth():
    """Time of a flip and of a resample, at constant degree."""
    rows = json.loads((OUT / "growth.json").read_text())
    plain = [row for name, row in rows.items() if name != "ogbn-arxiv"]
    edges = [row["edges"] for row in plain]
    picture, axes = figure(1, 2, size=(8, 3.0))
    for each, key, words in (
        (axes[0, 0], "flip_ns", "one flip (ns)"),
        (axes[0, 1], "resample_ns_per_edge", "one resample (ns per edge)"),
    ):
        each.plot(edges, [row[key] for row in plain], "o-", color=COLOURS[0], label="random graphs, mean degree 10")
        if "ogbn-arxiv" in rows:
            row = rows["ogbn-arxiv"]
            each.plot([row["edges"]], [row[key]], "s", color=COLOURS[1], label="ogbn-arxiv")
        each.set_xscale("log")
        each.set_ylim(0, None)
        each.set_xlabel("edges")
        each.set_ylabel(words)
        each.legend(fontsize=7, frameon=False)
    save(picture, OUT / "growth.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=None)
    mixing(parser.parse_args().data_dir)
    growth()
