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
from pathlib import Path
from statistics import mean, stdev

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import torch
from chain_worth_rows import ROWS, Twice, common_settings, recipe, source

OUT = Path(__file__).parents[1] / "results" / "chain_worth"
TRIALS, SEARCH_SEEDS, SEARCH_UPDATES, UPDATES, SEEDS = 12, 2, 400, 1500, 10


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
    runs, lines = read(options.out / "runs.jsonl"), []
    datasets = [d for d in ("cora", "citeseer", "photo", "computers", "cs") if any(r["dataset"] == d for r in runs)]
    for dataset in datasets:
        lines += [f"**{dataset}**", "", f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
        for name, row in ROWS.items():
            mine, rival = (finals(runs, which, dataset) for which in (name, rival_of(row)))
            if len(mine) < SEEDS:
                continue
            cells = [f"{100 * mean(run['validation'] for run in mine.values()):.2f}"]
            for rule in ("best", "smoothed"):
                tests, others = ({s: 100 * run["test"][rule] for s, run in each.items()} for each in (mine, rival))
                cells.append(f"{mean(tests.values()):.2f} ± {stdev(tests.values()):.2f}{less(tests, others)}")
            cells.append(", ".join(f"{mean(run['change'][part] for run in mine.values()):.2f}" for part in CHANGES))
            cells += everywhere(runs, name, rival_of(row), dataset)
            lines.append(f"| {row.words} | {' | '.join(cells)} |")
        lines.append("")
    (options.out / "table.md").write_text("\n".join([*HEAD, "", *lines]))
    print("\n".join(lines))


def everywhere(runs, name, rival, dataset):
    """Over all settings that were tried, none chosen: validation and test, less those of fixed rates."""
    tried = {
        which: {(r["trial"], r["seed"]): r for r in runs if key(r)[:2] == (which, dataset) and r["updates"] < UPDATES}
        for which in (name, rival)
    }
    cells = []
    for number in (lambda run: run["validation"], lambda run: run["test"]["smoothed"]):
        mine, theirs = ({k: 100 * number(run) for k, run in tried[which].items()} for which in (name, rival))
        cells.append(f"{mean(mine.values()):.2f}{less(mine, theirs)}")
    return cells


def less(mine, theirs):
    """` (+0.35, p 0.312)`: the difference in pairs; nothing of a row and itself."""
    from mhaug.experiments.significance import paired_p_value

    shared = [key for key in mine if key in theirs]
    if mine == theirs or not shared:
        return ""
    return f" ({mean(mine[key] - theirs[key] for key in shared):+.2f}, p {paired_p_value(mine, theirs):.3f})"


COLUMNS = ("views", "validation", "test, best", "test, smoothed", "dropped", "all: validation", "all: test")
CHANGES = ("edge_change", "node_change")
HEAD = [
    f"GCN; {TRIALS} settings of {SEARCH_SEEDS} seeds and {SEARCH_UPDATES} updates a row; that of the best smoothed",
    f"validation accuracy is run on seeds 0-9 for {UPDATES} updates. Test accuracy in percent at the best and at the",
    "best smoothed validation accuracy; in brackets less that of fixed rates with the same loss, and p (Wilcoxon,",
    "in pairs over seeds, two-sided, not corrected). Dropped: shares of edges, nodes. All: means over all settings",
    "and seeds of the search, none chosen, by the smoothed rule, compared in pairs of equal setting and seed.",
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
