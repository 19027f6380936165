"""What the sampler costs, and whether it mixes: ratios between things that this one script runs side by side.

    python benchmarks/sampler.py --data-dir ../shared/data                 # everything, about half an hour
    python benchmarks/sampler.py --data-dir ../shared/data --only cost mixing

writes one JSON file a question under `results/sampler/`. One thread, except where two are the question.
"""

import argparse
import json
import os
import resource
from pathlib import Path
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import torch
from torch_geometric.data import Data
from torch_geometric.utils import dropout_edge

from mhaug import EgoTerm, MHAug
from mhaug.data.datasets import load_dataset, load_graph
from mhaug.methods.catalogue import build_method, method_options
from mhaug.methods.presets import preset_settings

torch.set_num_threads(1)
OUT = Path(__file__).parents[1] / "results" / "sampler"


def seconds_each(work, repeats, rounds=5):
    """The best of several rounds: others on the machine only ever make it slower."""
    work()
    best = np.inf
    for _ in range(rounds):
        start = perf_counter()
        for _ in range(repeats):
            work()
        best = min(best, (perf_counter() - start) / repeats)
    return best


def cost(data_dir):
    """A step of the paper's move against PyG's dropout_edge, on Cora, alternating."""
    data = load_graph("cora", data_dir)
    chain = MHAug(edges=EgoTerm(spread_floor=1.0), moves="resample").chain(data)
    torch_chain = MHAug(edges=EgoTerm(spread_floor=1.0), moves="resample", backend="torch").chain(data)
    flips = MHAug(edges=EgoTerm(spread_floor=1.0), moves="flip").chain(data)
    rows = []
    for _ in range(5):
        step = seconds_each(chain.step, 300, 1)
        drop = seconds_each(lambda: dropout_edge(data.edge_index, 0.3, force_undirected=True), 300, 1)
        rows.append((step, drop))
    step, drop = (min(column) for column in zip(*rows, strict=True))
    local = seconds_each(flips.step, 10) / 2639
    return {
        "resample_step_over_dropout_edge": step / drop,
        "resample_step_us": 1e6 * step,
        "dropout_edge_us": 1e6 * drop,
        "flip_us": 1e6 * local,
        "torch_backend_steps_per_second": 1 / seconds_each(torch_chain.step, 100),
    }


def mixing(data_dir):
    """Cora, four spreads: does the mixture reach the typical set, and how fast beside the paper's move."""
    data, rows = load_graph("cora", data_dir), {}
    for spread in (0.1, 0.3, 1.0, 10.0):
        traces = {}
        # resamples are cheap: only every eighth is looked at, as in a round of the mixture
        for moves, draws, warmup, thin in (
            ("flip", 1500, 500, 1),
            ("mixture", 1000, 300, 1),
            ("resample", 4000, 4000, 8),
        ):
            sampler = MHAug(edges=EgoTerm(strength=0.3, spread_floor=spread), moves=moves)
            # two chains: one from the whole graph, one from the empty one
            traces[moves] = sampler.sample(data, draws=draws, warmup=warmup, thin=thin, chains=2, seed=1)
        row = {}
        for moves, trace in traces.items():
            summary = trace.summary()
            log_prob, ego = summary.quantities["log_prob"], summary.quantities["ego_edge_change"]
            # both chains shared one core, so a second counts once for both
            row[moves] = {
                "log_prob": log_prob.mean,
                "log_prob_mcse": log_prob.mcse,
                "ego_ess_per_second": summary.ess_per_second["ego_edge_change"],
                "r_hat": ego.r_hat,
                "acceptance": summary.acceptance,
            }
        starts = traces["flip"].log_prob.numpy()
        row["flip_from_whole"], row["flip_from_empty"] = starts[0].mean(), starts[1].mean()
        difference = abs(row["mixture"]["log_prob"] - row["flip"]["log_prob"])
        error = np.hypot(row["mixture"]["log_prob_mcse"], row["flip"]["log_prob_mcse"])
        row["difference_in_errors"] = difference / error
        ess = max(row["resample"]["ego_ess_per_second"], 1e-9)
        row["mixture_over_resample"] = row["mixture"]["ego_ess_per_second"] / ess
        rows[str(spread)] = row
    return rows


def presets(data_dir):
    """The targets of the presets on all five graphs: how long until four chains agree, beside one training run."""
    rows = {}
    for name in ("cora", "citeseer", "computers", "photo", "cs"):
        task = load_dataset(name, data_dir)
        settings = preset_settings(name, "gcn", "mh-aug")
        own = {key: value for key, value in settings.items() if key in method_options("mh-aug")}
        paper = build_method("mh-aug", **own).sampler()
        sampler = MHAug(edges=paper.edges, nodes=paper.nodes, hops=2, step_size=paper.step_size)
        # entropies of a half-trained network: neither sure nor clueless
        entropy = torch.full((task.num_nodes,), 0.2)
        start = perf_counter()
        trace = sampler.sample(task.graph, draws=3000, warmup=100, chains=4, entropy=entropy, until_ess=800)
        spent = perf_counter() - start
        summary = trace.summary()
        update = _update_seconds(task, own)
        rows[name] = {
            "r_hat": max(row.r_hat for row in summary.quantities.values()),
            "seconds": spent,
            "draws": trace.log_prob.shape[1],
            "share_of_a_training_run": spent / (2000 * update),
            "delivered": summary.delivered,
            "acceptance": summary.acceptance,
        }
        print(name, rows[name], flush=True)
    return rows


def _update_seconds(task, settings):
    """One update of MH-Aug with GCN, for scale."""
    from mhaug.backbones.catalogue import build_backbone
    from mhaug.methods.method import Problem
    from mhaug.training.fit import fit
    from mhaug.training.result import FitConfig

    problem = Problem.of(task)
    network = build_backbone("gcn", problem.graph.num_features, task.num_classes)
    result = fit(task, build_method("mh-aug", **settings).begin(problem, network, seed=0), FitConfig(max_updates=20))
    return result.seconds / result.updates


def random_graph(edges, degree=10, seed=0):
    """A graph with this many undirected edges and the same mean degree at every size."""
    rng = np.random.default_rng(seed)
    nodes = 2 * edges // degree
    source, target = rng.integers(0, nodes, (2, int(edges * 1.02)), dtype=np.int64)
    keep = source != target
    low, high = np.minimum(source, target)[keep], np.maximum(source, target)[keep]
    keys = np.unique(low * nodes + high)
    keys = rng.permutation(keys)[:edges]
    pairs = torch.from_numpy(np.stack([keys // nodes, keys % nodes]))
    return Data(edge_index=torch.cat([pairs, pairs.flip(0)], 1), num_nodes=nodes)


def growth(data_dir):
    """Flips at constant degree, resampling, and memory, from ten thousand edges to ten million."""
    graphs = {f"{edges:.0e}": random_graph(edges) for edges in (10**4, 10**5, 10**6, 10**7)}
    arxiv = Path(data_dir or ".") / "ogbn-arxiv-nofeat" / "ogbn_arxiv_structure.npz"
    if arxiv.is_file():
        graphs["ogbn-arxiv"] = load_graph(arxiv)
    return {name: _one_size(graph, flips=True) for name, graph in graphs.items()}


def largest(data_dir):
    """Fifty million edges: a resample against a bare pass that counts degrees."""
    return _one_size(random_graph(5 * 10**7), flips=False)


def _one_size(data, *, flips):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chain = MHAug(edges=EgoTerm(spread_floor=1.0), moves="resample").chain(data)
    chain.step()
    memory = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    step, counting = np.inf, np.inf
    ends = chain.graph.unit_edges.numpy()
    for _ in range(3):
        start = perf_counter()
        chain.step()
        step = min(step, perf_counter() - start)
        start = perf_counter()
        np.bincount(ends[0], minlength=data.num_nodes)
        np.bincount(ends[1], minlength=data.num_nodes)
        counting = min(counting, perf_counter() - start)
    units = chain.graph.num_units
    row = {
        "edges": units,
        "resample_ns_per_edge": 1e9 * step / units,
        "resample_over_degree_count": step / counting,
        "bytes_per_edge_at_peak": memory / units,
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    if flips:
        del chain
        local = MHAug(edges=EgoTerm(spread_floor=1.0), moves="flip").chain(data)
        start = perf_counter()
        done = int(local.step().tally["edges"][0, 1, 0])
        row["flip_ns"] = 1e9 * (perf_counter() - start) / done
    return row


def threads(data_dir):
    """Two chains on two threads against one chain on one: rounds per second."""
    data = load_graph("cora", data_dir)
    rows = {}
    for moves, rounds in (("mixture", 200), ("resample", 5000)):
        best = {}
        for chains in (1, 2) * 4:
            chain = MHAug(edges=EgoTerm(spread_floor=0.3), moves=moves).chain(data, chains=chains)
            chain.step()
            start = perf_counter()
            chain.step(rounds=rounds)
            best[chains] = min(best.get(chains, np.inf), perf_counter() - start)
        rows[moves] = {"two_chains_over_one": 2 * best[1] / best[2]}
    return rows


QUESTIONS = {
    "cost": cost, "mixing": mixing, "presets": presets, "growth": growth, "largest": largest, "threads": threads,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, default=list(QUESTIONS))
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        start = perf_counter()
        answer = QUESTIONS[name](options.data_dir)
        text = json.dumps(answer, indent=1, default=float)
        (options.out / f"{name}.json").write_text(text + "\n")
        print(f"{name} ({perf_counter() - start:.0f} s)\n{text}", flush=True)


if __name__ == "__main__":
    main()
