"""What studies beside the table share: the runs that stand in it, a file of runs of their own, an engine, a table."""

import argparse
import json
from itertools import groupby
from pathlib import Path
from statistics import mean, stdev

from mhaug.backbones.catalogue import BACKBONES
from mhaug.experiments.chosen_settings import choose
from mhaug.experiments.engines.catalogue import build_engine
from mhaug.experiments.record import RunRecord
from mhaug.experiments.table import DATASETS

RESULTS = Path(__file__).parents[1] / "results"


def main(words, out, study, report):
    """The command of such a study: what is missing, and the table."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--backbones", nargs="+", default=list(BACKBONES))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS / out)
    parser.add_argument("--report", action="store_true", help="only write the table")
    options = parser.parse_args()
    if not options.report:
        study(options)
    report(options)


def standing(options, methods):
    """(dataset, backbone, method) -> seed -> the record that stands in the table, where all ten do."""
    records = sorted(read(RESULTS / "table1"), key=cell_of)
    found = {cell: choose(list(group)).records for cell, group in groupby(records, key=cell_of)}
    wanted = [(d, b, method) for method in methods for d in options.datasets for b in options.backbones]
    whole = [cell for cell in wanted if len(found.get(cell, ())) == 10]
    return {cell: {record.spec.seed: record for record in found[cell]} for cell in whole}


def cell_of(record):
    return record.spec.dataset, record.spec.backbone, record.spec.method


def read(folder):
    """The records of `runs.jsonl`."""
    path = folder / "runs.jsonl"
    return [RunRecord.from_json(json.loads(line)) for line in path.read_text().splitlines()] if path.is_file() else []


def engine_of(options):
    """A process a run on a CPU, all seeds side by side on a GPU."""
    name, workers = ("batch", None) if options.device != "cpu" else ("process", options.workers)
    return build_engine(name, data_dir=options.data_dir, device=options.device, workers=workers)


def keep(outcomes, folder):
    """Each run at once into `runs.jsonl`, without its curves."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "runs.jsonl").open("a") as file:
        for outcome in outcomes:
            if isinstance(outcome, RunRecord):
                file.write(json.dumps(outcome.to_json(history=False)) + "\n")
                file.flush()
            else:
                print(f"failed: {outcome.spec} {outcome.error}", flush=True)


def write(lines, folder):
    (folder / "table.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


def words_of(values):
    return f"{mean(values):.2f} ± {stdev(values):.2f}"
