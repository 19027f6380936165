"""What each choice in `mh-aug` is worth: one thing changed at a time, ten seeds, differences in pairs.

    python benchmarks/ablation.py --data-dir ../shared/data --workers 2

The base are the presets of the graph (GCN), learning on every state of the chain, edges and nodes accepted apart. All
runs are kept in `runs.jsonl` under `--out`, and not made again; `table.md` is written from them.
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

import torch

OUT = Path(__file__).parents[1] / "results" / "ablation"
UPDATES, SEEDS = 1000, 10
BASE = {"accept": "blocks", "train_on": "every-step"}
# words, and what differs from the base
ROWS = {
    "base": ("the base", {}),
    "joint": ("edges and nodes accepted together", {"accept": "joint"}),
    "accepted": ("learning after acceptances only (Algorithm 1)", {"train_on": "accepted"}),
    "paper": ("both: the paper's", {"accept": "joint", "train_on": "accepted"}),
    "mixture": ("the mixture of moves", {"moves": "mixture"}),
    "frozen": ("entropies of the untrained network", {"entropy": "frozen"}),
    "no consistency": ("γ1 = 0", {"consistency_weight": 0.0}),
    "no sharpness": ("γ2 = 0", {"sharpness_weight": 0.0}),
    "no regularisers": ("γ1 = γ2 = 0", {"consistency_weight": 0.0, "sharpness_weight": 0.0}),
    "fixed rates": ("fixed rates, those that the base's chain has on average", {}),
}


def train(job):
    """One run, in a process that makes many."""
    name, dataset, seed, rates, options = job
    torch.set_num_threads(1)
    from mhaug import load_dataset
    from mhaug.experiments.selection import accuracy_by, validation_by
    from mhaug.methods.method import Problem
    from mhaug.methods.presets import preset_settings
    from mhaug.training.fit import fit
    from mhaug.training.plan import Plan

    own = {**preset_settings(dataset, "gcn", "mh-aug"), **BASE, "max_updates": options.updates, **ROWS[name][1]}
    plan, task = Plan.of("gcn", "mh-aug", own), load_dataset(dataset, options.data_dir, seed=seed)
    problem = Problem.of(task)
    network = plan.network(problem.graph.num_features, task.num_classes, seed=seed)
    learner = plan.begin(problem, network, seed=seed)
    if rates is not None:
        learner = at_fixed_rates(plan, problem, network, rates, seed)
    result = fit(task, learner, plan.config)
    curves = result.history
    return {
        "row": name,
        "dataset": dataset,
        "seed": seed,
        "updates": result.updates,
        "acceptance": result.acceptance_rate,
        "validation": validation_by(curves, "smoothed"),
        "test": {rule: accuracy_by(curves, rule) for rule in ("best", "smoothed")},
        "change": {part: mean(curves[part]) for part in ("edge_change", "node_change")},
    }


def at_fixed_rates(plan, problem, network, rates, seed):
    """The same loss on the same network, but fresh uniform subsets of one size in place of the chain."""
    from mhaug.augmentation.random_drop import RandomDrop
    from mhaug.methods.augmented import AugmentedLearner

    edge_rate, node_rate = rates
    draws = RandomDrop(problem.task.graph, edge_rate=edge_rate, node_rate=node_rate, seed=seed)
    return AugmentedLearner(problem, network, draws, plan.method.recipe())


def study(options):
    """Row by row; the fixed rates are those of the base's runs."""
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "runs.jsonl"
    with ProcessPoolExecutor(options.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        for dataset in options.datasets:
            for name in ROWS:
                done = of(read(path), dataset, name, options)
                seeds = [seed for seed in range(options.seeds) if seed not in done]
                rates = delivered(of(read(path), dataset, "base", options)) if name == "fixed rates" else None
                with path.open("a") as file:
                    for run in pool.map(train, [(name, dataset, seed, rates, options) for seed in seeds]):
                        file.write(json.dumps(run) + "\n")
                        file.flush()
                print(dataset, name, words_of(of(read(path), dataset, name, options)), flush=True)


def delivered(runs):
    """The mean shares of edges and of nodes that the chain dropped."""
    return tuple(mean(run["change"][part] for run in runs.values()) for part in ("edge_change", "node_change"))


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def of(runs, dataset, name, options):
    """Seed -> run of the length that is asked for."""
    cell = dataset, name, options.updates
    return {run["seed"]: run for run in runs if (run["dataset"], run["row"], run["updates"]) == cell}


def words_of(runs):
    tests = [100 * run["test"]["best"] for run in runs.values()]
    return f"{mean(tests):.2f} ± {stdev(tests):.2f}" if len(tests) > 1 else str(tests)


def report(options):
    """The table: test accuracies by two rules, and how they differ from the base."""
    from mhaug.experiments.significance import paired_p_value

    runs, lines = read(options.out / "runs.jsonl"), list(HEAD)
    for dataset in dict.fromkeys(run["dataset"] for run in runs):
        base = of(runs, dataset, "base", options)
        lines += ["", f"**{dataset}**", "", TABLE_HEAD, "|---|---|---|---|---|---|---|---|"]
        for name, (words, _) in ROWS.items():
            mine = of(runs, dataset, name, options)
            if len(mine) < len(base):
                continue
            cells = [f"{100 * mean(run['validation'] for run in mine.values()):.2f}"]
            for rule in ("best", "smoothed"):
                tests, others = ({s: 100 * run["test"][rule] for s, run in each.items()} for each in (mine, base))
                cells.append(f"{mean(tests.values()):.2f} ± {stdev(tests.values()):.2f}")
                gap = mean(tests[seed] - others[seed] for seed in tests)
                cells.append("–" if name == "base" else f"{gap:+.2f}, p {paired_p_value(tests, others):.3f}")
            cells.append(f"{mean(run['acceptance'] for run in mine.values()):.2f}")
            cells.append(", ".join(f"{share:.2f}" for share in delivered(mine)))
            lines.append(f"| {words} | {' | '.join(cells)} |")
    (options.out / "table.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


COLUMNS = ("validation", "test, best", "less the base", "test, smoothed", "less the base", "accepted", "dropped")
TABLE_HEAD = f"| what is changed | {' | '.join(COLUMNS)} |"
HEAD = [
    f"GCN, `mh-aug`, seeds 0-9, {UPDATES} updates. Validation: mean over seeds of the best smoothed accuracy. Test",
    "accuracy in percent at the best and at the best smoothed validation accuracy. Differences are paired,",
    "p by Wilcoxon's signed-rank test, two-sided, not corrected. Last columns: share of candidates accepted; shares",
    "of edges and of nodes dropped. Made by `benchmarks/ablation.py`.",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--datasets", nargs="+", default=["cora", "citeseer"])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--updates", type=int, default=UPDATES)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--report", action="store_true", help="only write the table")
    options = parser.parse_args()
    if not options.report:
        study(options)
    report(options)


if __name__ == "__main__":
    main()
