"""What a chain is worth beside fixed rates, at equal regularisers and with an equal search.

    python benchmarks/chain_worth.py --data-dir ../shared/data --datasets cora citeseer --workers 2

Each row draws views in its own way and learns from them by one of two losses. All rows try the same settings of the
network, of the loss, and of how much is dropped; the best smoothed validation accuracy, a mean over seeds, chooses.
Seeds 0-9 are then run in full, and tested in pairs against fixed rates with the same loss. All that is made
is kept under `--out`, and not made again.
"""

import argparse
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import torch

OUT = Path(__file__).parents[1] / "results" / "chain_worth"
TRIALS, SEARCH_SEEDS, SEARCH_UPDATES, UPDATES, SEEDS = 12, 2, 400, 1500, 10
SHARP = {"spread_floor": 0.1, "moves": "mixture"}
FLAT = {"spread_floor": 1.0, "moves": "resample"}


@dataclass(frozen=True)
class Row:
    """Where views come from, what they are compared with, and which number of a node steers the target."""

    words: str
    draws: dict[str, Any] | None  # of the chain; None: fixed rates
    follows: str = "nothing"  # "entropy", "degree", "distance": μ_i = μ times it, or times 1 - it
    falls: bool = False
    loss: str = "consecutive"  # or "sharpened mean", of two independent sources
    rounds: int = 1  # of the chain between two samples


ROWS = {
    "fixed": Row("fixed rates", None),
    "flat": Row("the paper's move, wide spreads that follow the entropy", {**FLAT, "slopes": (10.0, 5.0)}),
    "sharp": Row("σ = 0.1, the mixture", SHARP),
    "sure": Row("σ = 0.1, sure nodes are changed more: μ_i = μ (1 - ε_i)", SHARP, "entropy", falls=True),
    "unsure": Row("σ = 0.1, unsure nodes are changed more: μ_i = μ ε_i", SHARP, "entropy"),
    "hubs": Row("σ = 0.1, nodes of high degree are changed more", SHARP, "degree"),
    "far": Row("σ = 0.1, nodes far from labels are changed more", SHARP, "distance"),
    "near": Row("σ = 0.1, nodes near labels are changed more", SHARP, "distance", falls=True),
    "apart": Row("σ = 0.1, five rounds between two samples", SHARP, rounds=5),
    "fixed, mean": Row("fixed rates, sharpened mean of two draws", None, loss="sharpened mean"),
    "sharp, mean": Row("σ = 0.1, sharpened mean of two chains", SHARP, loss="sharpened mean"),
    "sure, mean": Row(
        "σ = 0.1, μ_i = μ (1 - ε_i), sharpened mean of two chains", SHARP, "entropy", True, loss="sharpened mean"
    ),
}


def common_settings(trial):
    """The same for every row: of the network and the loss, and how much is dropped of edges and of nodes."""
    rng = np.random.default_rng(trial)
    return {
        "dropout": float(rng.choice([0.2, 0.5, 0.6, 0.8])),
        "input_dropout": float(rng.choice([0.0, 0.2, 0.5])),
        "learning_rate": float(rng.choice([0.005, 0.01, 0.02])),
        "consistency_weight": float(np.exp(rng.uniform(np.log(0.1), np.log(2.0)))),
        "sharpness_weight": float(rng.choice([0.0, 0.1, 0.2, 0.5])),
        "temperature": float(rng.choice([0.2, 0.3, 0.5])),
        "edges": float(rng.uniform(0.05, 0.7)),
        "nodes": float(rng.uniform(0.05, 0.7)),
    }


class Twice:
    """Two independent sources of views, as the previous and the current one."""

    def __init__(self, one, other):
        self._sources, self.needs_entropy = (one, other), one.needs_entropy

    def propose(self, entropy):
        from mhaug.augmentation.augmenter import Proposal

        first, second = (source.propose(entropy) for source in self._sources)
        return Proposal(first.current, second.current, True, first.info)


class Led:
    """A chain whose ε is a fixed number of each node; and which goes several rounds for each sample."""

    def __init__(self, chain, field, rounds):
        self._chain, self._field, self._rounds = chain, field, rounds
        self.needs_entropy = field is None

    def propose(self, entropy):
        from mhaug.augmentation.augmenter import Proposal

        steps = [self._chain.propose(entropy if self._field is None else self._field) for _ in range(self._rounds)]
        return Proposal(steps[0].previous, steps[-1].current, True, steps[-1].info)


def source(row, task, settings, seed):
    """Views of the graph."""
    from mhaug import EgoTerm, MHAug
    from mhaug.augmentation.chain_drop import ChainDrop
    from mhaug.augmentation.random_drop import RandomDrop

    graph = task.graph
    if row.draws is None:
        return RandomDrop(graph, edge_rate=settings["edges"], node_rate=settings["nodes"], seed=seed)
    slopes = row.draws.get("slopes", (0.0, 0.0))
    terms = {}
    for part, slope in zip(("edges", "nodes"), slopes, strict=True):
        wish = {"strength": settings[part], "spread_floor": row.draws["spread_floor"], "spread_slope": slope}
        if row.follows != "nothing" and row.falls:
            wish["strength_slope"] = -settings[part]
        elif row.follows != "nothing":
            wish |= {"strength": 0.0, "strength_slope": settings[part]}
        terms[part] = EgoTerm(**wish)
    sampler = MHAug(**terms, moves=row.draws["moves"], step_size=(0.1, 0.03))
    return Led(ChainDrop(sampler, graph, seed=seed), field(row.follows, task), row.rounds)


def field(follows, task):
    """The number in [0, 1] of each node that stands for ε; None: the entropy itself."""
    if follows in ("nothing", "entropy"):
        return None
    edges, nodes = task.graph.edge_index, task.num_nodes
    if follows == "degree":
        degrees = torch.bincount(edges[0], minlength=nodes)
        return degrees.argsort(stable=True).argsort().double() / max(nodes - 1, 1)
    distance = torch.full((nodes,), torch.inf, dtype=torch.float64).masked_fill(task.split.train, 0.0)
    for _ in range(nodes):
        arrives = torch.full_like(distance, torch.inf).scatter_reduce(0, edges[1], distance[edges[0]] + 1, "amin")
        closer = torch.minimum(distance, arrives)
        if torch.equal(closer, distance):
            break
        distance = closer
    # what no label reaches counts as farthest
    farthest = distance[distance.isfinite()].max()
    return distance.clamp(max=float(farthest)) / farthest.clamp(min=1.0)


def recipe(row, settings):
    """What is learned: Eq. 9, or with the sharpened mean of both views as the target of each."""
    from mhaug.methods.augmented import Recipe
    from mhaug.methods.mh_aug import MHAugReg

    weights = {name: settings[name] for name in ("consistency_weight", "sharpness_weight")}
    if row.loss == "consecutive":
        paper = MHAugReg(**weights, train_on="every-step")
        return paper.recipe()

    def loss(logits, labels, nodes):
        from mhaug.objectives.log_softmax import log_softmax
        from mhaug.objectives.objective import Losses
        from mhaug.objectives.sharpening import sharpened_average
        from mhaug.objectives.sharpness import sharpness_loss
        from mhaug.objectives.supervised import supervised_loss

        both = [logits.of("previous"), logits.of("current")]
        known = sum(supervised_loss(each, labels, nodes) for each in both) / 2
        target = sharpened_average([each.detach() for each in both], settings["temperature"])
        spread = sum(-(target * log_softmax(each)).sum(-1).mean() for each in both) / 2
        total = known + weights["consistency_weight"] * spread
        terms = {"supervised": known, "consistency": spread}
        if weights["sharpness_weight"]:
            terms["sharpness"] = sharpness_loss(logits.of("original"))
            total = total + weights["sharpness_weight"] * terms["sharpness"]
        return Losses(total, terms)

    views = {"previous", "current"} | ({"original"} if weights["sharpness_weight"] else set())
    return Recipe(frozenset(views), loss, every_step=True, regularises=True)


def train(job):
    """One run, in a process that makes many."""
    name, dataset, trial, seed, updates, options = job
    torch.set_num_threads(1)
    from mhaug import load_dataset
    from mhaug.experiments.selection import accuracy_by, smoothed
    from mhaug.methods.augmented import AugmentedLearner
    from mhaug.methods.method import Problem
    from mhaug.rng import seed_global
    from mhaug.training.fit import fit
    from mhaug.training.plan import Plan

    row, settings = ROWS[name], common_settings(trial)
    task = load_dataset(dataset, options.data_dir, seed=seed)
    decay = 0.0 if dataset in ("computers", "photo") else 5e-4
    own = {key: settings[key] for key in ("dropout", "input_dropout", "learning_rate")}
    plan = Plan.of("gcn", "vanilla", {**own, "hidden": 64, "weight_decay": decay, "max_updates": updates})
    problem = Problem.of(task)
    network = plan.network(problem.graph.num_features, task.num_classes, seed=seed)
    seed_global(seed, "dropout")
    views = source(row, task, settings, seed)
    if row.loss == "sharpened mean":
        views = Twice(views, source(row, task, settings, seed + 1000))
    learner = AugmentedLearner(problem, network, views, recipe(row, settings))
    result = fit(task, learner, plan.config)
    curves = result.history
    return {
        "row": name,
        "dataset": dataset,
        "trial": trial,
        "seed": seed,
        "updates": updates,
        "validation": float(smoothed(np.asarray(curves["validation_accuracy"])).max()),
        "test": {rule: accuracy_by(curves, rule) for rule in ("best", "smoothed")},
        "change": {key: mean(curves[key]) for key in curves if key.endswith("_change")},
        "seconds": result.seconds,
    }


def study(options):
    """Search, choose, run; line by line into `runs.jsonl`."""
    path = options.out / "runs.jsonl"
    options.out.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(options.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for dataset in options.datasets:
            for name in options.rows or ROWS:
                searches = [
                    (name, dataset, t, s, SEARCH_UPDATES, options) for t in range(TRIALS) for s in range(SEARCH_SEEDS)
                ]
                make(pool, searches, path)
                best = chosen(read(path), name, dataset)
                make(pool, [(name, dataset, best, s, UPDATES, options) for s in range(SEEDS)], path)
                print(dataset, name, "trial", best, summary(read(path), name, dataset), flush=True)


def make(pool, jobs, path):
    """Those that are not in the file yet."""
    done = {key(run) for run in read(path)}
    with path.open("a") as file:
        for run in pool.map(train, [job for job in jobs if job[:5] not in done]):
            file.write(json.dumps(run) + "\n")
            file.flush()


def key(run):
    return tuple(run[name] for name in ("row", "dataset", "trial", "seed", "updates"))


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def chosen(runs, name, dataset):
    """The settings of best validation accuracy."""
    mine = [run for run in runs if (run["row"], run["dataset"], run["updates"]) == (name, dataset, SEARCH_UPDATES)]
    return max(range(TRIALS), key=lambda trial: mean(run["validation"] for run in mine if run["trial"] == trial))


def finals(runs, name, dataset):
    """Seed -> run, of the chosen settings in full."""
    return {
        run["seed"]: run for run in runs if (run["row"], run["dataset"], run["updates"]) == (name, dataset, UPDATES)
    }


def summary(runs, name, dataset):
    last = finals(runs, name, dataset).values()
    words = [f"validation {100 * mean(run['validation'] for run in last):.2f}"]
    for rule in ("best", "smoothed"):
        values = [100 * run["test"][rule] for run in last]
        words.append(f"test by {rule} {mean(values):.2f} ± {stdev(values):.2f}")
    return ", ".join(words)


def report(options):
    """The table."""
    from mhaug.experiments.significance import paired_p_value

    runs, lines = read(options.out / "runs.jsonl"), []
    datasets = [d for d in ("cora", "citeseer", "photo", "computers", "cs") if any(r["dataset"] == d for r in runs)]
    for dataset in datasets:
        lines += [f"**{dataset}**", ""]
        lines += ["| views | validation | test, best | test, smoothed | against fixed rates | p | dropped |"]
        lines += ["|---|---|---|---|---|---|---|"]
        for name, row in ROWS.items():
            mine, rival = (finals(runs, which, dataset) for which in (name, rival_of(row)))
            if len(mine) < SEEDS:
                continue
            columns = [100 * np.array([run["test"][rule] for run in mine.values()]) for rule in ("best", "smoothed")]
            cells = [f"{100 * mean(run['validation'] for run in mine.values()):.2f}"]
            cells += [f"{values.mean():.2f} ± {values.std(ddof=1):.2f}" for values in columns]
            tests = [{s: 100 * run["test"]["smoothed"] for s, run in group.items()} for group in (mine, rival)]
            gap = mean(tests[0][s] - tests[1][s] for s in tests[0] if s in tests[1]) if rival else 0.0
            own = rival_of(row) == name
            cells += ["–", "–"] if own or not rival else [f"{gap:+.2f}", f"{paired_p_value(*tests):.3f}"]
            change = {part: mean(run["change"].get(part, np.nan) for run in mine.values()) for part in CHANGES}
            cells.append(", ".join(f"{value:.2f}" for value in change.values()))
            lines.append(f"| {row.words} | {' | '.join(cells)} |")
        lines.append("")
    (options.out / "table.md").write_text("\n".join([*HEAD, "", *lines]))
    print("\n".join(lines))


CHANGES = ("edge_change", "node_change")
HEAD = [
    f"GCN; {TRIALS} settings of {SEARCH_SEEDS} seeds and {SEARCH_UPDATES} updates a row; that of the best smoothed",
    f"validation accuracy is run on seeds 0-9 for {UPDATES} updates. Test accuracy in percent at the best and the",
    "best smoothed validation accuracy; differences are of the latter, against fixed rates with the same loss,",
    "paired over seeds (Wilcoxon, two-sided, not corrected). Last column: shares of edges and nodes dropped.",
    "Made by `benchmarks/chain_worth.py`.",
]


def rival_of(row):
    return "fixed" if row.loss == "consecutive" else "fixed, mean"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--datasets", nargs="+", default=["cora", "citeseer"])
    parser.add_argument("--rows", nargs="+", choices=ROWS)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--report", action="store_true", help="only write the table")
    options = parser.parse_args()
    if not options.report:
        study(options)
    report(options)


if __name__ == "__main__":
    main()
