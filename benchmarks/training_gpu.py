"""Ten seeds side by side on one GPU: seconds from the loaded graph to the last record, what bounds them, memory.

    python benchmarks/training.py --data-dir ../shared/data --only gpu

Each case is a fresh process, so that compilation and capture are paid and counted every time.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from time import perf_counter

import torch

WHOLE = [("cora", name, 2000, 10) for name in ("gcn", "sage", "gat")]
WHOLE += [
    ("cora", "gcn", 2000, 1),
    ("cora", "gcn", 2000, 64),
    ("citeseer", "gcn", 2000, 10),
    ("computers", "gcn", 2000, 10),
]
MEMORY = [(graph, name, 30, 10) for graph in ("computers", "cs") for name in ("gcn", "sage", "gat")]
GOALS = {("cora", "gcn", 10): 6, ("cora", "sage", 10): 10, ("cora", "gat", 10): 30, ("computers", "gcn", 10): 60}
BANDWIDTH = 4.8e12  # bytes a second, from the maker's sheet of an H200


def gpu(options):
    """All cases; `gpu.md` beside the numbers."""
    rows = []
    # the first process on a machine reads the libraries from disk: it is run, and told apart
    cases = [WHOLE[0], *WHOLE, *MEMORY]
    for case in cases[options.start :]:
        words = [sys.executable, __file__, *map(str, case), "--data-dir", str(options.data_dir)]
        printed = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
        rows.append(json.loads(printed.splitlines()[-1]))
        print(rows[-1], flush=True)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "gpu.md").write_text(table(rows))
    return rows


def one(dataset, backbone, updates, replicas, data_dir):
    """One batch in this process."""
    from mhaug.data.datasets import load_graph, task_of
    from mhaug.methods.presets import preset_settings
    from mhaug.training.plan import Plan
    from mhaug.training.replicas.group import begin_together

    seeds = list(range(replicas))
    graph = load_graph(dataset, data_dir)
    tasks = [task_of(graph, dataset, "public", seed) for seed in seeds]
    start = perf_counter()
    shared = tasks[0].to("cuda")
    tasks = [replace(shared, split=task.split.to("cuda")) for task in tasks]
    settings = {**preset_settings(dataset, backbone, "mh-aug"), "max_updates": updates}
    fitting = begin_together(tasks, [Plan.of(backbone, "mh-aug", settings)] * replicas, seeds)
    looks = []
    results = fitting.run(lambda now: looks.append(perf_counter()))
    seconds = perf_counter() - start
    steps = max(result.steps for result in results)
    tests = [100 * result.test_accuracy for result in results]
    row = {
        "dataset": dataset,
        "backbone": backbone,
        "updates": updates,
        "replicas": replicas,
        "seconds": seconds,
        "steps": steps,
        "replayed_ms_a_step": 1e3 * (looks[-1] - looks[0]) / (50 * (len(looks) - 1)) if len(looks) > 1 else None,
        "test_accuracy": mean(tests),
        "test_accuracy_std": stdev(tests) if replicas > 1 else None,
        "acceptance": mean(result.acceptance_rate for result in results),
        "peak_gib": torch.cuda.max_memory_allocated() / 2**30,
        "floor_ms_a_step": 1e3 * bytes_of_a_step(fitting) / BANDWIDTH,
        **busy(fitting),
    }
    print(json.dumps(row))


def bytes_of_a_step(fitting):
    """What a step must at least read and write: products and propagations of four passes, Adam, the sort of keys."""
    graph, model = fitting.learner._problem.graph, fitting.learner.model
    replicas, parameters = fitting.adam.weights.shape
    entries, nodes = graph.connections.with_self.structure.num_entries, graph.num_nodes
    dense = isinstance(graph.features, torch.Tensor)
    stored = graph.features.numel() if dense else graph.features.values.numel() * 2
    hidden, classes = model.layers[0].bias.shape[-1], fitting.learner._problem.task.num_classes
    heads = getattr(model, "heads", 1)
    classes *= heads
    # forward: X W once, then three views; backward: the same again for rows, and once more for weights
    first = stored + replicas * (parameters + nodes * hidden)
    a_pass = replicas * (entries * (hidden + classes + 2 * heads) + 6 * nodes * hidden + 3 * nodes * classes)
    training = 2 * first + 3 * 2 * a_pass
    evaluation = first + a_pass
    adam = 8 * replicas * parameters
    sorting = 2 * 8 * 2 * replicas * (graph.num_edges // 2 + nodes)  # eight passes over 8-byte keys
    return 4 * (training + evaluation + adam) + 4 * sorting


def busy(fitting):
    """Kernels of a step, and how long they keep the GPU busy: the difference to the wall clock is launches."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        for _ in range(3):
            fitting.step()
        fitting.settle()
        torch.cuda.synchronize()
    kernels = [event for event in profiler.events() if event.device_type.name == "CUDA"]
    return {"kernels_a_step": len(kernels) / 3, "busy_ms_a_step": sum(event.device_time for event in kernels) / 3e3}


def table(rows):
    """For readers."""
    lines = [
        f"`mh-aug` on one {torch.cuda.get_device_name()}; seconds from the loaded graph to the last record,",
        "compilation and capture included, each case in a fresh process (the first of all also reads the libraries",
        "from disk). Busy: the sum of all kernels' times, of which some run side by side.",
        "",
        "| graph | backbone | seeds x updates | s | goal | ms a step | kernels | busy ms | floor ms | GiB | test |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        key = (row["dataset"], row["backbone"], row["replicas"])
        goal = GOALS.get(key, "-") if row["updates"] == 2000 else "-"
        spread = "" if row["test_accuracy_std"] is None else f" ± {row['test_accuracy_std']:.2f}"
        test = f"{row['test_accuracy']:.2f}{spread}" if row["updates"] == 2000 else "-"
        step = "-" if row["replayed_ms_a_step"] is None else f"{row['replayed_ms_a_step']:.2f}"
        lines.append(
            f"| {row['dataset']} | {row['backbone']} | {row['replicas']} x {row['updates']} | {row['seconds']:.1f} "
            f"| {goal} | {step} | {row['kernels_a_step']:.0f} | {row['busy_ms_a_step']:.2f} "
            f"| {row['floor_ms_a_step']:.2f} | {row['peak_gib']:.2f} | {test} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
    parser = argparse.ArgumentParser()
    parser.add_argument("case", nargs=4)
    parser.add_argument("--data-dir")
    options = parser.parse_args()
    dataset, backbone, updates, replicas = options.case
    one(dataset, backbone, int(updates), int(replicas), options.data_dir)
