"""Accuracy on Cora and CiteSeer with GCN: search on validation accuracy, then seeds 0-9 at the chosen settings.

    python benchmarks/accuracy.py --data-dir ../shared/data --workers 2

writes `search.csv` (every setting tried, with its validation accuracy), `runs.jsonl` (every final run) and `table.md`
under `results/accuracy/`. Runs are independent processes of one thread each.
"""

import argparse
import csv
import itertools
import json
import multiprocessing
import os
import tomllib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean, stdev

os.environ.setdefault("OMP_NUM_THREADS", "1")

HERE = Path(__file__).parent
COLUMNS = ["dataset", "method", "settings", "validation_accuracy", "seeds"]
METHODS = ["vanilla", "drop-edge", "drop-node", "uda", "mh-aug-no-reg", "mh-aug"]
PAPER = {  # Table 1, GCN
    ("vanilla", "cora"): 81.54, ("vanilla", "citeseer"): 71.64, ("drop-edge", "cora"): 82.21,
    ("drop-edge", "citeseer"): 71.93, ("uda", "cora"): 83.59, ("uda", "citeseer"): 73.56,
    ("mh-aug-no-reg", "cora"): 83.55, ("mh-aug-no-reg", "citeseer"): 72.96, ("mh-aug", "cora"): 85.16,
    ("mh-aug", "citeseer"): 75.49,
}  # fmt: skip


def one_run(job):
    import torch

    from mhaug import RunSpec, run

    torch.set_num_threads(1)
    dataset, method, seed, settings, options = job
    spec = RunSpec(dataset, "gcn", method, seed, settings=settings)
    record = run(spec, data_dir=options.data_dir, device=options.device)
    return record.to_json(history=False)


def settings_to_try(method):
    grid = tomllib.loads((HERE / "accuracy.toml").read_text())
    axes = {**grid["common"], **grid[method]}
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def search(pool, options):
    """Mean validation accuracy of each setting; the first best one is chosen. Test accuracies are not looked at."""
    cells = list(itertools.product(options.datasets, options.methods))
    jobs = [
        (dataset, method, seed, {**settings, "max_updates": options.search_updates}, options)
        for dataset, method in cells
        for settings in settings_to_try(method)
        for seed in range(options.search_seeds)
    ]
    scores = {}
    for (dataset, method, _, settings, _), record in zip(jobs, pool.map(one_run, jobs), strict=True):
        del settings["max_updates"]
        scores.setdefault((dataset, method, json.dumps(settings)), []).append(record["validation_accuracy"])
    rows = [(*key, mean(values), len(values)) for key, values in scores.items()]
    path, others = options.out / "search.csv", []
    if path.is_file():
        with path.open(newline="") as file:
            others = [row for row in list(csv.reader(file))[1:] if tuple(row[:2]) not in cells]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows, *others])
    return {
        (dataset, method): json.loads(max((r for r in rows if r[:2] == (dataset, method)), key=lambda r: r[3])[2])
        for dataset, method in cells
    }


def table(records, datasets):
    methods = [method for method in METHODS if any(r["spec"]["method"] == method for r in records)]
    lines = ["| method | " + " | ".join(datasets) + " |", "|---|" + "---|" * len(datasets)]
    for method in methods:
        cells = []
        for dataset in datasets:
            mine = [r for r in records if (r["spec"]["method"], r["spec"]["dataset"]) == (method, dataset)]
            tests = [100 * r["test_accuracy"] for r in mine]
            paper = PAPER.get((method, dataset))
            cells.append(f"{mean(tests):.2f} ± {stdev(tests):.2f} (paper {paper if paper else '-'})")
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--search-seeds", type=int, default=3)
    parser.add_argument("--search-updates", type=int, default=700)
    parser.add_argument("--datasets", nargs="+", default=["cora", "citeseer"])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--out", type=Path, default=HERE.parent / "results" / "accuracy")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    # a forked process cannot use a GPU
    with ProcessPoolExecutor(options.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        chosen = search(pool, options)
        jobs = [
            (dataset, method, seed, settings, options)
            for (dataset, method), settings in chosen.items()
            for seed in range(options.seeds)
        ]
        records = list(pool.map(one_run, jobs))
    # runs of other methods, made by an earlier call, stay
    runs = options.out / "runs.jsonl"
    others = [json.loads(line) for line in runs.read_text().splitlines()] if runs.is_file() else []
    records += [record for record in others if (record["spec"]["dataset"], record["spec"]["method"]) not in chosen]
    runs.write_text("".join(json.dumps(record) + "\n" for record in records))
    text = table(records, options.datasets)
    (options.out / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
