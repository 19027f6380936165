"""What it is worth to evaluate a running mean of the weights: cells of the table once more, all else alike.

    python benchmarks/averaging.py --data-dir ../shared/data --datasets cora citeseer --backbones gcn --workers 2
    python benchmarks/averaging.py --data-dir ../shared/data --device cuda

Each cell takes the settings that stand in the table. The decay is fixed beforehand: 1 / (1 - 0.98) = 50 updates, as
many as the smoothed rule looks at. Runs are kept in `runs.jsonl` under `--out`, and not made again; `table.md` sets
them beside those of the table, in pairs over seeds.
"""

from beside_table import engine_of, keep, main, read, standing, words_of, write
from table1_collect import difference

from mhaug import RunSpec

DECAY = 0.98
# not those whose runs are much slower or shorter than the others'
METHODS = ("mh-aug", "uda", "vanilla", "drop-edge", "mh-aug-no-reg", "grand", "bvat", "graph-mix")


def study(options):
    """Method by method, so that what is missing after a stop is whole rows."""
    engine = engine_of(options)
    for cell, records in standing(options, METHODS).items():
        done = {record.spec for record in read(options.out)}
        specs = [with_mean(record.spec) for record in records.values()]
        keep(engine.run([spec for spec in specs if spec not in done]), options.out)
        print(*cell, flush=True)


def with_mean(spec):
    """The same run, but for what is evaluated."""
    return RunSpec.from_json({**spec.to_json(), "settings": {**spec.given_settings(), "weight_averaging": DECAY}})


def report(options):
    """The table, from what is there."""
    made, lines = {record.spec: record for record in read(options.out)}, list(HEAD)
    for cell, records in sorted(standing(options, METHODS).items()):
        shared = {seed: (r, made[with_mean(r.spec)]) for seed, r in records.items() if with_mean(r.spec) in made}
        if len(shared) < 2:
            continue
        words = []
        for number in ("validation_accuracy", "test_accuracy"):
            before, after = ({s: 100 * getattr(pair[i], number) for s, pair in shared.items()} for i in (0, 1))
            words += [words_of(each.values()) for each in (before, after)]
        lines.append(f"| {' | '.join([*cell, *words])} | {difference(after, before)} | {len(shared)} |")
    write(lines, options.out)


HEAD = [
    "The paper's rule (first best validation accuracy) with the weights of each update, as in the table, and with a",
    f"running mean of them (`weight_averaging={DECAY}`, about 50 updates); same settings, mean ± deviation over",
    "seeds 0-9, in percent. p: two-sided Wilcoxon signed-rank test in pairs over seeds, not corrected. Made by",
    "`benchmarks/averaging.py`.",
    "",
    "| graph | backbone | method | validation | with the mean | test | with the mean | difference | runs |",
    "|---|---|---|---|---|---|---|---|---|",
]


if __name__ == "__main__":
    main(__doc__, "averaging", study, report)
