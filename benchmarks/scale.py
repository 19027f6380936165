"""Graphs larger than one pass: accuracy in batches beside the whole graph, and what the largest graphs cost.

    python benchmarks/scale.py --only accuracy --data-dir ../shared/data      # about half an hour on one core
    python benchmarks/scale.py --only arxiv --data-dir ../shared/data
    python benchmarks/scale.py --only products                                # 15 GiB of memory, 1 GB of disk
    python benchmarks/scale.py --only products --moves mixture
    python benchmarks/scale.py --only products --device cuda

Writes one JSON file a question under `results/scale/`, and `table.md` from all that are there.
"""

import argparse
import json
import os
import resource
import tempfile
from pathlib import Path
from statistics import mean, stdev
from time import perf_counter, process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import torch
from scale_graphs import generated_edges, large_task
from scale_table import write_table

from mhaug import NodeClassifier
from mhaug.data.datasets import load_dataset, load_graph
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.training.memory import keep_pages
from mhaug.training.plan import Plan

OUT = Path(__file__).parents[1] / "results" / "scale"
IN_BATCHES = {"batch_size": 1024, "fan_outs": (15, 10)}


def accuracy(options):
    """GCN on Computers and CS: each seed on the whole graph and in batches, all else alike.

    Each cell takes the place of its last result in the file; the others stay, so that cells can be run one by one.
    The file of the repository was made so, with the seeds and updates that its rows name.
    """
    file = options.out / "accuracy.json"
    rows = json.loads(file.read_text()) if file.is_file() else []
    for dataset in options.graphs:
        for method in options.methods:
            row = one_cell(dataset, method, options)
            print(json.dumps(row), flush=True)
            rows = [one for one in rows if cell_of(one) != cell_of(row)] + [row]
    return sorted(rows, key=cell_of)


def cell_of(row):
    """What a row of the accuracies is about."""
    return row["dataset"], row["method"] != "vanilla", row["method"], row["settings"]["max_updates"]


def one_cell(dataset, method, options):
    """A method on a graph, over the seeds."""
    loop = {"max_updates": options.updates, "evaluate_every": 10}
    row = {"dataset": dataset, "method": method, "settings": {**loop, **IN_BATCHES}}
    for words, batching in (("whole", {}), ("batches", IN_BATCHES)):
        runs = []
        for seed in range(options.seeds):
            task = load_dataset(dataset, options.data_dir, split="random", seed=seed)
            runs.append(NodeClassifier(method, seed=seed, **loop, **batching).fit(task).result_)
        tests = [100 * run.test_accuracy for run in runs]
        row[words] = {
            "test": mean(tests),
            "test_std": stdev(tests) if len(tests) > 1 else None,
            "tests": tests,
            "validation": 100 * mean(run.validation_accuracy for run in runs),
            "seconds_per_update": mean(run.seconds / run.updates for run in runs),
        }
    row["difference"] = row["batches"]["test"] - row["whole"]["test"]
    return row


def arxiv(options):
    """The edges of ogbn-arxiv, both directions, with generated features."""
    graph = load_graph(Path(options.data_dir or ".") / "ogbn-arxiv-nofeat" / "ogbn_arxiv_structure.npz")
    both = torch.cat([graph.edge_index, graph.edge_index.flip(0)], 1).unique(dim=1)
    nodes = int(graph.num_nodes)
    return cost(options, lambda folder: large_task(both, nodes, folder, name="arxiv", classes=40, width=128))


def products(options):
    """As many nodes and edges as ogbn-products."""
    nodes, edges = options.nodes, options.edges
    return cost(options, lambda folder: large_task(generated_edges(nodes, edges), nodes, folder, name="products"))


def cost(options, make_task):
    """Memory, and seconds of each part of training `mh-aug` with GCN in batches."""
    with tempfile.TemporaryDirectory() as scratch:
        keep_pages()  # as `fit` does for a large graph
        clock = Clock(options.device)
        task = make_task(options.features or scratch)
        row = {"nodes": task.num_nodes, "columns": task.graph.edge_index.shape[1], "features": task.graph.x.shape[1]}
        row["labelled"] = int(task.split.train.sum())
        row |= {"made_s": clock.lap(), "made_gib": memory_gib()}
        task = task.to(options.device)
        graph = LargeGraph.of(task.graph)
        row |= {"index_s": clock.lap(), "index_gib": memory_gib()}
        settings = {**IN_BATCHES, "batches_per_sample": 10**9, "accept": "blocks", "train_on": "every-step"}
        settings["moves"] = options.moves
        plan = Plan.of("gcn", "mh-aug", {"hidden": 64, **settings})
        network = plan.network(graph.num_features, task.num_classes, seed=0).to(options.device)
        learner = plan.begin_in_batches(task, graph, network, seed=0)
        row |= {"chain_begun_s": clock.lap(), "chain_gib": memory_gib()}
        row |= timed(learner, graph, clock, options.batches)
        row["batches_an_epoch"] = {"labelled": learner._labelled.batches, "all nodes": learner._everyone.batches}
        # on a shared machine the process's own seconds say more than the clock on the wall
        kind = "cpu_s" if options.device == "cpu" else "s"
        row["epoch_s_extrapolated"] = {
            words: number * row[f"batch_{kind}"] + row[f"chain_round_{kind}"] + row[f"received_{kind}"]
            for words, number in row["batches_an_epoch"].items()
        }
        row |= {
            "moves": options.moves,
            "peak_gib": memory_gib(),
            "device": options.device,
            "threads": torch.get_num_threads(),
        }
        if options.device != "cpu":
            row["device_name"] = torch.cuda.get_device_name()
            row["device_peak_gib"] = torch.cuda.max_memory_allocated() / 2**30
    return row


def timed(learner, graph, clock, batches):
    """The first evaluation gives ε; then rounds of the chain, and batches of one sample."""
    clock.lap()
    learner.predict()
    row = clock.laps("evaluation")
    rounds = []
    for _ in range(3):
        clock.lap()
        proposal = learner._augmenter.propose(learner._entropy)
        rounds.append(clock.laps("chain_round"))
        graph.received(proposal.current)
        row |= clock.laps("received")
    # the first round compiles, where something is compiled
    row |= min(rounds, key=lambda one: one["chain_round_s"])
    optimiser = torch.optim.Adam(learner.model.parameters(), lr=0.01)
    for number in range(batches + 2):
        if number == 2:
            clock.lap()
        step = learner.step(1)
        optimiser.zero_grad()
        step.losses.total.backward()
        optimiser.step()
    row |= clock.laps("batch", batches)
    return row | {"batches_timed": batches, "last_losses": step.losses.detached()}


class Clock:
    """Seconds since the last lap, once the device has done its work: passed, and of this process on a CPU."""

    def __init__(self, device):
        self._device, self._start = device, (perf_counter(), process_time())

    def lap(self):
        return self.laps("it")["it_s"]

    def laps(self, name, times=1):
        if self._device != "cpu":
            torch.cuda.synchronize()
        start, self._start = self._start, (perf_counter(), process_time())
        wall, cpu = ((now - then) / times for now, then in zip(self._start, start, strict=True))
        return {f"{name}_s": wall, f"{name}_cpu_s": cpu}


def memory_gib():
    """The most that this process has held so far, mapped file pages included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


QUESTIONS = {"accuracy": accuracy, "arxiv": arxiv, "products": products}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=["accuracy", "arxiv"])
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--graphs", nargs="+", default=["computers", "cs"], help="of the accuracies")
    parser.add_argument("--methods", nargs="+", default=["vanilla", "mh-aug"], help="of the accuracies")
    parser.add_argument("--updates", type=int, default=800, help="of the accuracies")
    parser.add_argument("--seeds", type=int, default=3, help="of the accuracies")
    parser.add_argument("--moves", default="resample", help="of the chain, where costs are measured")
    parser.add_argument("--batches", type=int, default=100, help="that are timed")
    parser.add_argument("--nodes", type=int, default=2_400_000, help="of the generated graph")
    parser.add_argument("--edges", type=int, default=60_000_000, help="undirected, of the generated graph")
    parser.add_argument(
        "--features", type=Path, default=None, help="folder for generated features; default: a new one"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        answer = QUESTIONS[name](options)
        ending = "" if options.device == "cpu" else f"-{torch.device(options.device).type}"
        ending += "" if name == "accuracy" or options.moves == "resample" else f"-{options.moves}"
        text = json.dumps(answer, indent=1, default=float)
        (options.out / f"{name}{ending}.json").write_text(text + "\n")
        print(f"{name}\n{text}", flush=True)
    write_table(options.out)


if __name__ == "__main__":
    main()
