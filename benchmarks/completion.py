"""Does every method run on every graph with every backbone, how long does an update take, and how much memory.

    python benchmarks/completion.py --data-dir ../shared/data

Each cell is a process of its own that makes a few updates; a cell that is in `results/completion/cells.jsonl` is
already done. Writes `results/completion/table.md`.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")

OUT = Path(__file__).parents[1] / "results" / "completion"
DATASETS, BACKBONES = ("cora", "citeseer", "photo", "computers", "cs"), ("gcn", "sage", "gat")
LIMIT = 16.0  # GiB


def one(dataset, backbone, method, options):
    """In this process: the time of an update after the first, and the peak of the whole process."""
    import torch

    from mhaug import NodeClassifier, load_dataset
    from mhaug.methods.presets import preset_settings

    torch.set_num_threads(1)
    task = load_dataset(dataset, options.data_dir)
    settings = {**preset_settings(dataset, backbone, method), "max_updates": options.updates}
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
    print(json.dumps(row))


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
    parser.add_argument("--cell", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        return one(*options.cell, options)
    from mhaug.methods.catalogue import METHODS

    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "cells.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    known = {(row["dataset"], row["backbone"], row["method"]) for row in rows}
    for cell in itertools.product(DATASETS, BACKBONES, options.methods or METHODS):
        if cell in known:
            continue
        words = [sys.executable, __file__, "--cell", *cell, "--device", options.device, "--updates"]
        words += [str(options.updates), *(["--data-dir", options.data_dir] if options.data_dir else [])]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode == 0:
            row = json.loads(done.stdout.splitlines()[-1])
        else:
            error = (done.stderr.strip().splitlines() or ["died"])[-1][:80]
            row = {"dataset": cell[0], "backbone": cell[1], "method": cell[2], "error": error}
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
