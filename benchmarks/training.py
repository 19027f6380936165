"""What an update of training costs beside the usual way to write it: ratios measured side by side in one process.

    python benchmarks/training.py --data-dir ../shared/data --only cpu           # some ten minutes
    python benchmarks/training.py --data-dir ../shared/data --only profile size

writes `results/training/`. The yardstick is in `yardstick.py`; an update of ours is one turn of `fit`'s loop: chain,
views, losses, optimiser, evaluation, best-so-far.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import torch
from yardstick import Yardstick

from mhaug import load_dataset
from mhaug.methods.method import Problem
from mhaug.training.fit import fit
from mhaug.training.plan import Plan

OUT = Path(__file__).parents[1] / "results" / "training"
BACKBONES = ("gcn", "sage", "gat")
# Spreads so wide that nearly every candidate is accepted: an update is then one step of the chain, here and there.
SETTINGS = {
    "edge_strength": 0.3,
    "edge_spread_slope": 10.0,
    "edge_spread_floor": 100.0,
    "edge_step_size": 0.1,
    "node_strength": 0.3,
    "node_spread_slope": 5.0,
    "node_spread_floor": 100.0,
    "node_step_size": 0.03,
}
GOALS = {"gcn": 1 / 8, "sage": 1 / 4, "gat": 1 / 4}  # of the plain update


class Ours:
    """A run of this package that is trained a few updates at a time."""

    def __init__(self, task, backbone, **settings):
        self.task, self.backbone, self.settings = task, backbone, {**SETTINGS, "accept": "blocks", **settings}
        problem, plan = Problem.of(task), self._plan(1)
        network = plan.network(problem.graph.num_features, task.num_classes, seed=0)
        self.learner = plan.begin(problem, network, seed=0)

    def train(self, updates):
        """So many turns of the loop."""
        return fit(self.task, self.learner, self._plan(updates).config)

    def _plan(self, updates):
        return Plan.of(self.backbone, "mh-aug", {**self.settings, "max_updates": updates})


def contestants(task, backbone):
    """What is timed, each as a function of the number of updates."""
    ours, plain, vanilla = Ours(task, backbone), *(Yardstick(task, backbone, SETTINGS) for _ in range(2))
    return {
        "ours": ours.train,
        "plain": lambda updates: [plain.update() for _ in range(updates)],
        "vanilla": lambda updates: [vanilla.vanilla_update() for _ in range(updates)],
    }


def cpu(options):
    """Cora and CS, three backbones: seconds an update, ratios, and the peak memory on CS."""
    rows = []
    for dataset, updates, rounds in (("cora", {"ours": 50, "plain": 5, "vanilla": 20}, 9), ("cs", {}, 3)):
        task = load_dataset(dataset, options.data_dir)
        for backbone in BACKBONES:
            works = contestants(task, backbone)
            seconds = alternate(works, {name: updates.get(name, 1 + (name == "ours")) for name in works}, rounds)
            middle = {name: float(np.median(times)) for name, times in seconds.items()}
            row = {"dataset": dataset, "backbone": backbone, "threads": options.threads, "seconds": middle}
            row["ours_over_plain"] = middle["ours"] / middle["plain"]
            row["ours_over_vanilla"] = middle["ours"] / middle["vanilla"]
            row["goal"], row["range"] = GOALS[backbone], spread_of_ratio(seconds)
            if dataset == "cs":
                row["peak_gib"] = {kind: peak_memory(dataset, backbone, kind, options) for kind in ("ours", "plain")}
            rows.append(row)
            print(json.dumps(row), flush=True)
    write(options, "cpu.md", table(rows))
    return rows


def alternate(works, updates, rounds):
    """Seconds an update, [rounds] of each: taken in turns, so that a busy machine is busy for all of them."""
    seconds = {name: [] for name in works}
    for name, work in works.items():
        work(updates[name])
    for _ in range(rounds):
        for name, work in works.items():
            start = perf_counter()
            work(updates[name])
            seconds[name].append((perf_counter() - start) / updates[name])
    return seconds


def spread_of_ratio(seconds):
    """The smallest and largest ours / plain of a round."""
    ratios = np.divide(seconds["ours"], seconds["plain"])
    return [float(ratios.min()), float(ratios.max())]


def peak_memory(dataset, backbone, kind, options):
    """GiB of a fresh process that loads the graph and makes two updates."""
    words = [sys.executable, __file__, "--peak", dataset, backbone, kind, "--data-dir", str(options.data_dir)]
    printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    return float(printed.split()[-1])


def report_peak(dataset, backbone, kind, options):
    """The child's side of `peak_memory`."""
    task = load_dataset(dataset, options.data_dir)
    if kind == "ours":
        Ours(task, backbone).train(2)
    else:
        plain = Yardstick(task, backbone, SETTINGS)
        for _ in range(2):
            plain.update()
    # getrusage would tell the parent's peak where that is the larger one: it outlives exec, VmHWM does not
    print(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 2**20)


def table(rows):
    """The answers of `cpu`, as a table for readers."""
    lines = [
        f"One update on the CPU, {rows[0]['threads']} thread(s), medians of alternating rounds, ms; in brackets the",
        "smallest and largest ratio of a round; peak memory in GiB. Made by `benchmarks/training.py --only cpu`.",
        "",
        "| graph | backbone | ours | plain | vanilla | ours / plain | goal | ours / vanilla | peak: ours, plain |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        times = " | ".join(f"{1e3 * row['seconds'][name]:.3g}" for name in ("ours", "plain", "vanilla"))
        ratio = "{:.3f} ({:.3f} to {:.3f})".format(row["ours_over_plain"], *row["range"])
        peak = ", ".join(f"{row['peak_gib'][name]:.2f}" for name in ("ours", "plain")) if "peak_gib" in row else "-"
        lines.append(
            f"| {row['dataset']} | {row['backbone']} | {times} | {ratio} | {row['goal']:.3f} "
            f"| {row['ours_over_vanilla']:.2f} | {peak} |"
        )
    return "\n".join(lines) + "\n"


def elsewhere(name):
    """A question that has a file of its own, such as `size` in `training_size.py`."""
    return lambda options: getattr(importlib.import_module(f"training_{name}"), name)(options)


def write(options, name, text):
    """One file of results."""
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / name).write_text(text)


QUESTIONS = {"cpu": cpu, **{name: elsewhere(name) for name in ("size", "profile", "gpu")}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=["cpu", "profile", "size"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--start", type=int, default=0, help="gpu: the case to begin with")
    parser.add_argument("--peak", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.peak:
        return report_peak(*options.peak, options)
    for name in options.only:
        start = perf_counter()
        text = json.dumps(QUESTIONS[name](options), indent=1, default=float)
        write(options, f"{name}.json", text + "\n")
        print(f"{name} ({perf_counter() - start:.0f} s)\n{text}", flush=True)


if __name__ == "__main__":
    main()
