"""The cells that `table1.py` made, put together: files that `mhaug table` and readers look at."""

import csv
import json
from itertools import groupby
from statistics import mean, stdev

from mhaug.experiments.chosen_settings import choose
from mhaug.experiments.record import RunRecord
from mhaug.experiments.run_key import completed
from mhaug.experiments.selection import RULES
from mhaug.experiments.significance import paired_p_value
from mhaug.experiments.table import METHODS
from mhaug.methods.preset_file import write_row
from mhaug.methods.presets import preset_settings
from mhaug.training.plan import every_setting

RUNS, TRIALS, PRESETS = "runs.jsonl", "trials.json", "presets.toml"
HEAD = ["dataset", "backbone", "method"]
# what each part of the method is worth: a row less another one
DIFFERENCES = {
    "chain, no regularisers": ("mh-aug-no-reg", "vanilla"),
    "chain against DropEdge, no regularisers": ("mh-aug-no-reg", "drop-edge"),
    "chain against fixed rates, the same loss": ("mh-aug", "fixed-rates"),
    "chain against UDA*": ("mh-aug", "uda"),
    "regularisers, with the chain": ("mh-aug", "mh-aug-no-reg"),
    "all of it": ("mh-aug", "vanilla"),
    "against GRAND": ("mh-aug", "grand"),
}


def collect(work, out):
    """runs.jsonl, trials.csv and selection.csv have everything; the other files what was chosen."""
    runs, trials = [], []
    for folder in sorted(path.parent for path in work.glob(f"*/{TRIALS}")):
        cell = folder.name.split("-", 2)
        if (folder / RUNS).is_file():  # else stopped before its first run was begun
            runs += map(json.loads, (folder / RUNS).read_text().splitlines())
        for trial in json.loads((folder / TRIALS).read_text()):
            value = "" if trial["value"] is None else f"{100 * trial['value']:.6g}"
            trials.append([*cell, trial["number"], value, json.dumps(trial["settings"])])
    rules = [
        [
            *cell_of(run),
            run["spec"]["seed"],
            json.dumps(run["spec"]["settings"]),
            *(f"{100 * share:.6g}" for share in run["selection"].values()),
        ]
        for run in runs
    ]
    bare = [{name: value for name, value in run.items() if name != "selection"} for run in runs]
    chosen = chosen_runs(runs, bare)
    tables = {"selection.md": selection_table(chosen), "differences.md": differences_table(chosen)}
    out.mkdir(parents=True, exist_ok=True)
    (out / RUNS).write_text("".join(json.dumps(line) + "\n" for line in bare))
    write(out / "trials.csv", [[*HEAD, "trial", "validation", "settings"], *trials])
    write(out / "selection.csv", [[*HEAD, "seed", "settings", *RULES], *rules])
    for name, table in tables.items():
        (out / name).write_text(table)
    write_presets(chosen, out / PRESETS)
    print(f"{len(chosen)} cells, {len(runs)} runs, {len(trials)} trials")


def write_presets(chosen, path):
    """The settings of the table, as a file that `MHAUG_PRESETS` can name: all that are not defaults."""
    path.unlink(missing_ok=True)
    for (dataset, backbone, method), picked in chosen.items():
        record = picked[0][0]
        defaults, named = every_setting(backbone, method, {}), preset_settings(dataset, backbone, method)
        whole = completed(record).items()
        own = {name: value for name, value in whole if name in named or value != defaults.get(name)}
        value = 100 * mean(run.validation_accuracy for run, _ in picked)
        note = f"benchmarks/table1.py, {value:.2f} % on validation over {len(picked)} seeds"
        write_row(path, dataset, backbone, method, own, note)


def restore(out, work):
    """The way back: folders of cells out of the three files, so that the table goes on where its files stand."""
    rows = zip((out / RUNS).read_text().splitlines(), read(out / "selection.csv"), strict=True)
    for line, row in rows:
        run = json.loads(line)
        assert [*cell_of(run), run["spec"]["seed"]] == [*(row[name] for name in HEAD), int(row["seed"])]
        rules = {rule: float(row[rule]) / 100 for rule in RULES}
        with cell_folder(work, row).joinpath(RUNS).open("a") as file:
            file.write(json.dumps({**run, "selection": rules}) + "\n")
    for _, group in groupby(read(out / "trials.csv"), key=lambda row: [row[name] for name in HEAD]):
        trials = list(group)
        values = [float(row["validation"]) / 100 if row["validation"] else None for row in trials]
        kept = [
            {"number": int(row["trial"]), "value": value, "settings": json.loads(row["settings"])}
            for row, value in zip(trials, values, strict=True)
        ]
        cell_folder(work, trials[0]).joinpath(TRIALS).write_text(json.dumps(kept))


def cell_folder(work, row):
    folder = work / "-".join(row[name] for name in HEAD)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cell_of(run):
    return [run["spec"][name] for name in HEAD]


def chosen_runs(runs, bare):
    """Cell -> runs of the settings that validation accuracy chose, the table's own choice."""
    records = [RunRecord.from_json(line) for line in bare]
    rules = {record.spec: run["selection"] for record, run in zip(records, runs, strict=True)}
    chosen = {}
    for cell, group in groupby(records, key=lambda record: [getattr(record.spec, name) for name in HEAD]):
        picked = choose(list(group)).records
        chosen[tuple(cell)] = [(record, rules[record.spec]) for record in picked]
    return chosen


def selection_table(chosen):
    """Test accuracy of the same runs at the update that each rule takes."""
    lines = ["Test accuracy in percent, mean over seeds, of the same runs at the update that each rule takes:", ""]
    lines += [f"- {name}: {words}" for name, words in RULES.items()]
    lines += ["", "| graph | backbone | method | " + " | ".join(RULES) + " | runs |", "|---" * (4 + len(RULES)) + "|"]
    for cell, picked in chosen.items():
        means = [round(100 * mean(rules[rule] for _, rules in picked), 2) for rule in RULES]
        words = [f"**{value:.2f}**" if value == max(means) else f"{value:.2f}" for value in means]
        lines.append(f"| {' | '.join(cell)} | {' | '.join(words)} | {len(picked)} |")
    return "\n".join([*lines, "", *by_method(chosen)]) + "\n"


def by_method(chosen):
    """What each rule gains over the paper's, method by method."""
    lines = [
        "Less the paper's rule, mean over the cells of a method; in brackets in how many of them it is better:",
        "",
    ]
    others = [rule for rule in RULES if rule != "best"]
    lines += ["| method | " + " | ".join(others) + " | cells |", "|---" * (2 + len(others)) + "|"]
    for method in METHODS:
        mine = [picked for (_, _, name), picked in chosen.items() if name == method]
        if not mine:
            continue
        words = []
        for rule in others:
            gains = [100 * mean(rules[rule] - rules["best"] for _, rules in picked) for picked in mine]
            words.append(f"{mean(gains):+.2f} ({sum(gain > 0 for gain in gains)})")
        lines.append(f"| {method} | {' | '.join(words)} | {len(mine)} |")
    return lines


def differences_table(chosen):
    """Paired over seeds; and over the means of all cells."""
    lines = [
        "Difference of test accuracies in points, mean ± standard deviation over shared seeds, and p of a two-sided",
        "Wilcoxon signed-rank test (not corrected for the number of comparisons). All: the same of the means of all",
        "cells where both rows were run.",
        "",
    ]
    cells = sorted({cell[:2] for cell in chosen}, key=lambda cell: cell[::-1])
    lines += ["| what | rows | all | " + " | ".join(" ".join(cell) for cell in cells) + " |"]
    lines += ["|---" * (3 + len(cells)) + "|"]
    for words, names in DIFFERENCES.items():
        row, means = [], ({}, {})
        for cell in cells:
            tests = [
                {record.spec.seed: 100 * record.test_accuracy for record, _ in chosen.get((*cell, name), [])}
                for name in names
            ]
            row.append(difference(*tests))
            if all(tests):
                for all_means, values in zip(means, tests, strict=True):
                    all_means[cell] = mean(values.values())
        row.insert(0, f"{difference(*means)}, {len(means[0])} cells")
        lines.append(f"| {words} | `{names[0]}` − `{names[1]}` | {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def difference(ours, theirs):
    """Of numbers in pairs, where there are two pairs."""
    gaps = [ours[key] - theirs[key] for key in sorted(set(ours) & set(theirs))]
    if len(gaps) < 2:
        return "–"
    return f"{mean(gaps):+.2f} ± {stdev(gaps):.2f}, p {paired_p_value(ours, theirs):.3f}"


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
