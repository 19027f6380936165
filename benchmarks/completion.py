"""Does every method run on every graph with every backbone, how long does an update take, and how much memory.

    python benchmarks/completion.py --data-dir ../shared/data

Each cell is a process of its own that makes a few updates (forked, so that imports are paid once); a cell that is in
`results/completion/cells.jsonl` is already done. Writes `results/completion/table.md`.
"""

import argparse
import itertools
import json
import multiprocessing
import os
import sys
from pathlib import Path
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")

OUT = Path(__file__).parents[1] / "results" / "completion"
DATASETS, BACKBONES = ("cora", "citeseer", "photo", "computers", "cs"), ("gcn", "sage", "gat")
LIMIT = 16.0  # GiB
# warm-ups cut short, so that a few updates go through every part of a method
SHORT = {
    "ada-edge": {"add_confidence": 0.0, "remove_confidence": 0.0},
    "gaug-m": {"encoder_epochs": 5},
    "gaug-o": {"predictor_warmup": 5, "classifier_warmup": 1},
}


def one(dataset, backbone, method, options):
    """In this process: the time of an update after the first, and the peak of the whole process."""
    import torch

    from mhaug import NodeClassifier, load_dataset
    from mhaug.methods.presets import preset_settings

    torch.set_num_threads(1)
    task = load_dataset(dataset, options.data_dir)
    settings = {**preset_settings(dataset, backbone, method), "max_updates": options.updates, **SHORT.get(method, {})}
    ticks = []
    start = perf_counter()
    clf = NodeClassifier(method, backbone, device=options.device, **settings)
    clf.fit(task, report=lambda progress: ticks.append(perf_counter()))
    row = {
        "dataset": dataset,
        "backbone": backbone,
        "method": method,
        "updates": clf.result_.updates,
        "seconds": perf_counter() - start,
        "seconds_an_update": (ticks[-1] - ticks[0]) / (len(ticks) - 1) if len(ticks) > 1 else None,
        "peak_gib": int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 2**20,
    }
    return row


def tell(cell, options, pipe):
    """Send the row of a cell, or its error in one line."""
    try:
        pipe.send(one(*cell, options))
    except Exception as error:
        pipe.send(failed(cell, f"{type(error).__name__}: {error}"[:80]))


def failed(cell, words):
    return {**dict(zip(("dataset", "backbone", "method"), cell, strict=True)), "error": words}


def apart(cell, options):
    """The row of a cell, made in a process of its own; whatever happens to it."""
    fork = multiprocessing.get_context("fork")
    receiving, sending = fork.Pipe(duplex=False)
    process = fork.Process(target=tell, args=(cell, options, sending))
    process.start()
    sending.close()
    try:
        return receiving.recv()
    except EOFError:
        process.join()
        return failed(cell, f"died with {process.exitcode}")
    finally:
        process.join()


def table(rows):
    """One block a backbone: seconds an update and peak GiB."""
    cells = {(row["backbone"], row["method"], row["dataset"]): row for row in rows}
    lines = []
    for backbone in BACKBONES:
        methods = list(dict.fromkeys(row["method"] for row in rows if row["backbone"] == backbone))
        lines += [f"**{backbone}**: ms an update, peak GiB of the process", ""]
        lines += ["| method | " + " | ".join(DATASETS) + " |", "|---|" + "---|" * len(DATASETS)]
        for method in methods:
            words = []
            for dataset in DATASETS:
                row = cells.get((backbone, method, dataset))
                if row is None:
                    words.append("-")
                elif "error" in row:
                    words.append(row["error"])
                else:
                    words.append(f"{1e3 * (row['seconds_an_update'] or row['seconds']):.0f}, {row['peak_gib']:.1f}")
            lines.append(f"| {method} | " + " | ".join(words) + " |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--updates", type=int, default=4)
    parser.add_argument("--methods", nargs="+", default=None)
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    import torch

    from mhaug import NodeClassifier, load_dataset
    from mhaug.methods.catalogue import METHODS

    torch.set_num_threads(1)
    # a first short run loads the libraries and the compiled loops once, for all processes to come
    for backbone in BACKBONES:
        NodeClassifier("mh-aug", backbone, max_updates=1, hidden=8).fit(load_dataset("cora", options.data_dir))

    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "cells.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    known = {(row["dataset"], row["backbone"], row["method"]) for row in rows}
    for cell in itertools.product(DATASETS, BACKBONES, options.methods or METHODS):
        if cell in known:
            continue
        row = apart(cell, options)
        rows.append(row)
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)
    text = table(rows)
    (options.out / "table.md").write_text(text)
    print(text)
    too_much = [row for row in rows if row.get("peak_gib", 0.0) > LIMIT or "error" in row]
    sys.exit(1 if too_much else 0)


if __name__ == "__main__":
    main()
