"""Two ranks against one: rounds of the chain in parts, updates of training; and does the chain in parts agree.

    python benchmarks/ranks.py --data-dir ../shared/data

Starts two ranks of itself over gloo. Rank 0 times a round of its own (rank 1 waits), then one of both together, and
so on in turns; ratios are taken turn by turn. Beside the clock stand processor seconds, those of the busier rank:
what the clock would show, waiting apart, on cores that nobody else uses. Writes `results/scale/ranks.json`.

    python benchmarks/ranks.py --agreement-only --agreement-edges 100000 --draws 200 --out agreement.json
    python benchmarks/ranks.py --memory      # what a rank takes; to results/scale/parts_memory.json
"""

import argparse
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from parts_agreement import agreement
from parts_memory import memory
from torch_geometric.data import Data

from mhaug import EgoTerm, MHAug, load_dataset
from mhaug.data.datasets import load_graph
from mhaug.distributed.partitioned import partitioned_chain
from mhaug.distributed.torchrun import joined
from mhaug.distributed.world import World
from mhaug.methods.method import Problem
from mhaug.methods.presets import preset_settings
from mhaug.training.fit import fit
from mhaug.training.plan import Plan

OUT = Path(__file__).parents[1] / "results" / "scale" / "ranks.json"
TERM = EgoTerm(strength=0.3, spread_floor=0.3)


def planted(edges, degree=10, groups=64, between=0.01, seed=0):
    """Groups of equal size; a share `between` of the edges joins two nodes chosen anywhere."""
    rng = np.random.default_rng(seed)
    nodes = 2 * edges // degree // groups * groups
    one = rng.integers(nodes, size=int(1.05 * edges))
    size = nodes // groups
    near = one // size * size + rng.integers(size, size=len(one))
    other = np.where(rng.random(len(one)) < between, rng.integers(nodes, size=len(one)), near)
    low, high = np.minimum(one, other), np.maximum(one, other)
    keys = rng.permutation(np.unique((low * nodes + high)[low != high]))[:edges]
    pairs = torch.from_numpy(np.stack([keys // nodes, keys % nodes]))
    return Data(edge_index=torch.cat([pairs, pairs.flip(0)], 1), num_nodes=int(nodes))


def in_turns(world, alone, both, turns):
    """Seconds by the clock and of the busier rank's processor, [turns, 2]: rank 0 by itself, then all ranks."""
    seconds = {"one": [], "two": []}
    for turn in range(turns + 1):
        for name, work in (("one", alone if world.leads else lambda: None), ("two", both)):
            world.wait()
            start, busy = perf_counter(), process_time()
            work()
            used = torch.zeros(world.size, dtype=torch.float64)
            used[world.rank] = process_time() - busy
            busiest = float(world.total(used).max())
            if turn:  # the first warms up
                seconds[name].append((perf_counter() - start, busiest))
    return {name: np.array(row) for name, row in seconds.items()}


def row_of(seconds):
    """Medians, and the ratios turn by turn."""
    row = {"turns": len(seconds["one"])}
    for place, kind in enumerate(("clock", "processor")):
        one, two = seconds["one"][:, place], seconds["two"][:, place]
        row[kind] = {
            "seconds_one_rank": float(np.median(one)),
            "seconds_two_ranks": float(np.median(two)),
            "one_over_two": float(np.median(one / two)),
            "range": [float((one / two).min()), float((one / two).max())],
        }
    return row


def chain_rows(world, options):
    """A round on a graph of hidden groups, in two parts; and what the parts can move at once."""
    data, sampler = planted(options.edges), MHAug(edges=TERM, moves=options.moves)
    start = perf_counter()
    both = partitioned_chain(sampler, data, parts=2, world=world)
    built = perf_counter() - start
    alone = partitioned_chain(sampler, data, parts=2) if world.leads else None
    row = row_of(in_turns(world, lambda: alone.step(), lambda: both.step(), options.turns))
    if world.leads:
        state, units = alone.state["edges"], alone.setup.num_units
        turns = [[place.piece.movable for place in turn.values()] for turn in state.places]
        pieces = [place.piece for place in state.places[0].values()]
        row |= {"edges": units, "nodes": alone.setup.num_nodes, "seconds_to_build": built}
        row |= {"units_moved_in_each_layout": turns, "share_of_the_largest_in_its_turn": sum(map(max, turns)) / units}
        row["halo_over_own_nodes"] = float(np.mean([(~piece.own).sum() / piece.own.sum() for piece in pieces]))
        row["same_state_as_one_rank"] = bool(torch.equal(alone.kept("edges"), both.kept("edges")))
        row["whole"] = whole_row(sampler, data, alone, options.turns)
    return row


def whole_row(sampler, data, alone, turns):
    """Processor time of a round of the chain in parts against one of the chain on the whole graph, on one rank."""
    whole, ratios = sampler.chain(data), []
    whole.place({"edges": alone.kept("edges")})
    for _ in range(turns):
        seconds = []
        for chain in (whole, alone):
            start = process_time()
            chain.step()
            seconds.append(process_time() - start)
        ratios.append(seconds[1] / seconds[0])
    return {"in_parts_over_whole": float(np.median(ratios)), "range": [min(ratios), max(ratios)]}


def training_row(world, options):
    """Updates of mh-aug on Cora: with two ranks each update has the samples of two chains."""
    task = load_dataset("cora", options.data_dir)
    settings = {**preset_settings("cora", "gcn", "mh-aug"), "max_updates": options.updates}
    plan, problem = Plan.of("gcn", "mh-aug", settings), Problem.of(task)

    def train(ranks):
        network = plan.network(problem.graph.num_features, task.num_classes, seed=0)
        fit(task, plan.begin(problem, network, seed=0, rank=ranks.rank), plan.config, world=ranks)

    seconds = in_turns(world, lambda: train(World.alone()), lambda: train(world), options.turns)
    row = row_of({name: each / options.updates for name, each in seconds.items()})
    return {**row, "updates_a_turn": options.updates, "samples_an_update": {"one rank": 1, "two ranks": 2}}


def rank_main(options):
    with joined() as world:
        answers = {"chain": chain_rows(world, options), "training": training_row(world, options)}
        if world.leads:
            options.answers.write_text(json.dumps(answers))


def start_ranks(options):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, *sys.argv, "--answers", str(options.out.with_suffix(".part"))]
    world = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    ranks = [subprocess.Popen(command, env={**world, "RANK": str(rank)}) for rank in range(2)]
    assert [rank.wait() for rank in ranks] == [0, 0]
    found = json.loads(options.out.with_suffix(".part").read_text())
    options.out.with_suffix(".part").unlink()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--edges", type=int, default=10**6)
    parser.add_argument("--moves", default="mixture")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--updates", type=int, default=100)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument(
        "--agreement-edges", type=int, default=0, help="agreement on hidden groups too, of so many edges"
    )
    parser.add_argument("--agreement-only", action="store_true")
    parser.add_argument("--memory", action="store_true", help="what a rank takes, from a folder and from the graph")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--answers", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.answers is not None:
        rank_main(options)
        return
    options.out = options.out or (OUT.with_name("parts_memory.json") if options.memory else OUT)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    if options.memory:
        with TemporaryDirectory() as folder:
            keep(memory(planted(options.edges), Path(folder)), options.out)
        return
    answers = {} if options.agreement_only else start_ranks(options)
    answers["agreement"] = agreement(load_graph("cora", options.data_dir), options.draws)
    if options.agreement_edges:
        hidden_groups = planted(options.agreement_edges)
        answers["agreement_on_hidden_groups"] = agreement(hidden_groups, options.draws)
    keep(answers, options.out)


def keep(answers, path):
    path.write_text(json.dumps(answers, indent=1, default=float) + "\n")
    print(json.dumps(answers, indent=1, default=float))


if __name__ == "__main__":
    main()
