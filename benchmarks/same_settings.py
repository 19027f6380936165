"""The chain against fixed rates in the chain's own settings: what is left when the luck of two searches is taken out.

    python benchmarks/same_settings.py --data-dir ../shared/data --workers 2
    python benchmarks/same_settings.py --data-dir ../shared/data --device cuda --datasets photo computers cs

For each cell of the table that has `mh-aug`: `fixed-rates` with the network, the optimiser and the loss that were
chosen for `mh-aug`, dropping the shares that its chain drops on average (measured on seed 0). The settings were
chosen for the chain, so that what advantage there is in that is the chain's. Runs are kept in `runs.jsonl` under
`--out`, and not made again; `table.md` sets them beside those of the table, in pairs over seeds.
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
from mhaug.training.plan import every_setting

RESULTS = Path(__file__).parents[1] / "results"
CHAIN, RIVAL = "mh-aug", "fixed-rates"
PARTS = {"edge_rate": "edge_change", "node_rate": "node_change"}


def cells(options):
    """(dataset, backbone) -> seed -> the record of `mh-aug` that stands in the table."""
    records = [record for record in read(RESULTS / "table1" / "runs.jsonl") if record.spec.method == CHAIN]
    found = {cell: choose(list(group)).records for cell, group in groupby(sorted(records, key=cell_of), key=cell_of)}
    wanted = [(dataset, backbone) for dataset in options.datasets for backbone in options.backbones]
    return {cell: {record.spec.seed: record for record in found[cell]} for cell in wanted if cell in found}


def cell_of(record):
    return record.spec.dataset, record.spec.backbone


def read(path):
    return [RunRecord.from_json(json.loads(line)) for line in path.read_text().splitlines()] if path.is_file() else []


def study(options):
    """Cell by cell; what is there is not made again."""
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "runs.jsonl"
    name, workers = ("batch", None) if options.device != "cpu" else ("process", options.workers)
    engine = build_engine(name, data_dir=options.data_dir, device=options.device, workers=workers)
    for cell, standing in cells(options).items():
        done = {(cell_of(record), record.spec.seed) for record in read(path)}
        missing = [record.spec for seed, record in standing.items() if (cell, seed) not in done]
        if missing:
            rates = delivered(engine, standing[0].spec)
            with path.open("a") as file:
                for outcome in engine.run([at_fixed_rates(spec, rates) for spec in missing]):
                    assert isinstance(outcome, RunRecord), outcome.error
                    file.write(json.dumps(outcome.to_json(history=False)) + "\n")
                    file.flush()
        print(*cell, flush=True)


def delivered(engine, spec):
    """The mean shares of edges and nodes that the chain of this run drops."""
    (record,) = engine.run([spec])
    return {rate: mean(record.history[curve]) for rate, curve in PARTS.items()}


def at_fixed_rates(spec, rates):
    """The run with all its settings that are not the chain's."""
    whole = every_setting(spec.backbone, spec.method, spec.given_settings())
    shared = {name: whole[name] for name in every_setting(spec.backbone, RIVAL, {}) if name in whole}
    return RunSpec(spec.dataset, spec.backbone, RIVAL, spec.seed, spec.split, {**shared, **rates})


def report(options):
    """The table, from what is there."""
    made = {(cell_of(record), record.spec.seed): record for record in read(options.out / "runs.jsonl")}
    lines = list(HEAD)
    for cell, standing in cells(options).items():
        pairs = {seed: (made[cell, seed], record) for seed, record in standing.items() if (cell, seed) in made}
        if len(pairs) < 2:
            continue
        fixed, chain = ({s: 100 * pair[i].test_accuracy for s, pair in pairs.items()} for i in (0, 1))
        gaps = [chain[seed] - fixed[seed] for seed in pairs]
        rates = " and ".join(f"{pairs[0][0].settings[rate]:.2f}" for rate in PARTS)
        acceptance = mean(record.acceptance_rate for _, record in pairs.values())
        words = [f"{mean(each.values()):.2f} ± {stdev(each.values()):.2f}" for each in (chain, fixed)]
        p_value = paired_p_value(chain, fixed)
        words += [f"{mean(gaps):+.2f} ± {stdev(gaps):.2f}, p {p_value:.3f}", rates, f"{acceptance:.2f}"]
        lines.append(f"| {' | '.join([*cell, *words])} | {len(pairs)} |")
    (options.out / "table.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


HEAD = [
    "`mh-aug` as it stands in the table, and `fixed-rates` with the same network, optimiser and loss, dropping the",
    "shares that the chain drops on average (of edges and of nodes). Test accuracy in percent at the first best",
    "validation accuracy, mean ± deviation over seeds 0-9; acceptance: of the chain's candidates. p: two-sided",
    "Wilcoxon signed-rank test in pairs over seeds, not corrected. Made by `benchmarks/same_settings.py`.",
    "",
    "| graph | backbone | chain | fixed rates | difference | shares | acceptance | runs |",
    "|---|---|---|---|---|---|---|---|",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--datasets", nargs="+", default=["cora", "citeseer", "computers", "photo", "cs"])
    parser.add_argument("--backbones", nargs="+", default=["gcn", "sage", "gat"])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS / "same_settings")
    parser.add_argument("--report", action="store_true", help="only write the table")
    options = parser.parse_args()
    if not options.report:
        study(options)
    report(options)


if __name__ == "__main__":
    main()
