"""The chain against fixed rates in the chain's own settings: what is left when the luck of two searches is taken out.

    python benchmarks/same_settings.py --data-dir ../shared/data --workers 2
    python benchmarks/same_settings.py --data-dir ../shared/data --device cuda --datasets photo computers cs

For each cell of the table that has `mh-aug`: `fixed-rates` with the network, the optimiser and the loss that were
chosen for `mh-aug`, dropping the shares that its chain drops on average (measured on seed 0). The settings were
chosen for the chain, so that what advantage there is in that is the chain's. Runs are kept in `runs.jsonl` under
`--out`, and not made again; `table.md` sets them beside those of the table, in pairs over seeds.
"""

import json
from statistics import mean

from beside_table import engine_of, keep, main, read, standing, words_of, write
from table1_collect import difference

from mhaug import RunSpec
from mhaug.experiments.record import RunRecord
from mhaug.training.plan import every_setting

CHAIN, RIVAL = "mh-aug", "fixed-rates"
PARTS = {"edge_rate": "edge_change", "node_rate": "node_change"}


def study(options):
    """Cell by cell; what is there is not made again."""
    engine = engine_of(options)
    for cell, records in standing(options, [CHAIN]).items():
        done = made(options)
        missing = [record.spec for record in records.values() if key_of(record.spec) not in done]
        if missing:
            rates = delivered(engine, records[0].spec)
            keep(engine.run([at_fixed_rates(spec, rates) for spec in missing]), options.out)
        print(*cell, flush=True)


def made(options):
    """Runs at fixed rates, by what they share with a run of the chain."""
    return {key_of(record.spec): record for record in read(options.out)}


def key_of(spec):
    """The graph, the network, the seed, and the settings that both methods have."""
    shared = json.dumps(shared_settings(spec), sort_keys=True)
    return spec.dataset, spec.backbone, spec.seed, shared


def shared_settings(spec):
    """All of the run's settings that are not those of its views."""
    whole = every_setting(spec.backbone, spec.method, spec.given_settings())
    other = every_setting(spec.backbone, RIVAL, {})
    return {name: value for name, value in whole.items() if name in other and name not in PARTS}


def delivered(engine, spec):
    """The mean shares of edges and nodes that the chain of this run drops."""
    (record,) = engine.run([spec])
    assert isinstance(record, RunRecord), record.error
    return {rate: mean(record.history[curve]) for rate, curve in PARTS.items()}


def at_fixed_rates(spec, rates):
    """The run with all its settings that are not the chain's."""
    return RunSpec(spec.dataset, spec.backbone, RIVAL, spec.seed, spec.split, {**shared_settings(spec), **rates})


def report(options):
    """The table, from what is there."""
    done, lines = made(options), list(HEAD)
    for cell, records in standing(options, [CHAIN]).items():
        pairs = [(record, done[key_of(record.spec)]) for record in records.values() if key_of(record.spec) in done]
        if len(pairs) < 2:
            continue
        chain, fixed = ({pair[i].spec.seed: 100 * pair[i].test_accuracy for pair in pairs} for i in (0, 1))
        words = [words_of(chain.values()), words_of(fixed.values()), difference(chain, fixed)]
        words.append(" and ".join(f"{pairs[0][1].settings[rate]:.2f}" for rate in PARTS))
        words.append(f"{mean(record.acceptance_rate for record, _ in pairs):.2f}")
        lines.append(f"| {' | '.join([*cell[:2], *words])} | {len(pairs)} |")
    write(lines, options.out)


HEAD = [
    "`mh-aug` as it stands in the table, and `fixed-rates` with the same network, optimiser and loss, dropping the",
    "shares that the chain drops on average (of edges and of nodes). Test accuracy in percent at the first best",
    "validation accuracy, mean ± deviation over seeds 0-9; acceptance: of the chain's candidates. p: two-sided",
    "Wilcoxon signed-rank test in pairs over seeds, not corrected. Made by `benchmarks/same_settings.py`.",
    "",
    "| graph | backbone | chain | fixed rates | difference | shares | acceptance | runs |",
    "|---|---|---|---|---|---|---|---|",
]


if __name__ == "__main__":
    main(__doc__, "same_settings", study, report)
