"""What it is worth to evaluate a running mean of the weights: cells of the table once more, all else alike.

    python benchmarks/averaging.py --data-dir ../shared/data --workers 2
    python benchmarks/averaging.py --data-dir ../shared/data --device cuda

Each cell takes the settings that stand in the table. The decay is fixed beforehand: 1 / (1 - 0.98) = 50 updates, as
many as the smoothed rule looks at. Runs are kept in `runs.jsonl` under `--out`, and not made again; `table.md` sets
them beside those of the table, in pairs over seeds.
"""

import argparse
import json
from itertools import groupby
from pathlib import Path
from statistics import mean, stdev

from mhaug import RunSpec
from mhaug.experiments.chosen_settings import choose
from mhaug.experiments.engines.catalogue import build_engine
from mhaug.experiments.record import RunRecord
from mhaug.experiments.significance import paired_p_value

RESULTS = Path(__file__).parents[1] / "results"
DECAY = 0.98
# not those whose runs are much slower or shorter than the others'
METHODS = ("mh-aug", "uda", "vanilla", "drop-edge", "mh-aug-no-reg", "grand", "bvat", "graph-mix")


def cells(options):
    """Cell -> seed -> the record that stands in the table; only complete ones."""
    lines = (RESULTS / "table1" / "runs.jsonl").read_text().splitlines()
    records = sorted((RunRecord.from_json(json.loads(line)) for line in lines), key=cell_of)
    found = {cell: choose(list(group)).records for cell, group in groupby(records, key=cell_of)}
    return {
        cell: {record.spec.seed: record for record in chosen}
        for cell, chosen in found.items()
        if len(chosen) == 10 and cell[0] in options.datasets and cell[1] in options.backbones and cell[2] in METHODS
    }


def cell_of(record):
    spec = record.spec
    return spec.dataset, spec.backbone, spec.method


def study(options):
    """Method by method, so that what is missing after a stop is whole rows."""
    path = options.out / "runs.jsonl"
    options.out.mkdir(parents=True, exist_ok=True)
    name, workers = ("batch", None) if options.device != "cpu" else ("process", options.workers)
    engine = build_engine(name, data_dir=options.data_dir, device=options.device, workers=workers)
    wanted = sorted(cells(options).items(), key=lambda item: METHODS.index(item[0][2]))
    for cell, standing in wanted:
        done = {record.spec for record in read(path)}
        specs = [with_mean(record.spec) for record in standing.values()]
        with path.open("a") as file:
            for outcome in engine.run([spec for spec in specs if spec not in done]):
                if isinstance(outcome, RunRecord):
                    file.write(json.dumps(outcome.to_json(history=False)) + "\n")
                    file.flush()
                else:
                    print(f"failed: {outcome.spec} {outcome.error}", flush=True)
        print(*cell, flush=True)


def with_mean(spec):
    """The same run, but for what is evaluated."""
    return RunSpec.from_json({**spec.to_json(), "settings": {**spec.given_settings(), "weight_averaging": DECAY}})


def read(path):
    return [RunRecord.from_json(json.loads(line)) for line in path.read_text().splitlines()] if path.is_file() else []


def report(options):
    """The table, from what is there."""
    made = {record.spec: record for record in read(options.out / "runs.jsonl")}
    lines = [*HEAD]
    for cell, standing in cells(options).items():
        shared = {seed: (r, made[with_mean(r.spec)]) for seed, r in standing.items() if with_mean(r.spec) in made}
        if len(shared) < 2:
            continue
        words = []
        for number in ("validation_accuracy", "test_accuracy"):
            before, after = ({s: 100 * getattr(pair[i], number) for s, pair in shared.items()} for i in (0, 1))
            words += [f"{mean(each.values()):.2f} ± {stdev(each.values()):.2f}" for each in (before, after)]
        gap = mean(after[seed] - before[seed] for seed in shared)
        p_value = paired_p_value(after, before)
        lines.append(f"| {' | '.join(cell)} | {' | '.join(words)} | {gap:+.2f}, p {p_value:.3f} | {len(shared)} |")
    (options.out / "table.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


HEAD = [
    "The paper's rule (first best validation accuracy) with the weights of each update, as in the table, and with a",
    f"running mean of them (`weight_averaging={DECAY}`, about 50 updates); same settings, mean ± deviation over",
    "seeds 0-9, in percent. p: two-sided Wilcoxon signed-rank test in pairs over seeds, not corrected. Made by",
    "`benchmarks/averaging.py`.",
    "",
    "| graph | backbone | method | validation | with the mean | test | with the mean | difference | runs |",
    "|---|---|---|---|---|---|---|---|---|",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--datasets", nargs="+", default=["cora", "citeseer"])
    parser.add_argument("--backbones", nargs="+", default=["gcn"])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS / "averaging")
    parser.add_argument("--report", action="store_true", help="only write the table")
    options = parser.parse_args()
    if not options.report:
        study(options)
    report(options)


if __name__ == "__main__":
    main()
