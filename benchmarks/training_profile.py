"""Where the time of one mh-aug update goes on the CPU, beside its floor: part `profile` of `training.py`.

Two tables: the stages of a real update, and the kernels at the sizes of that update. The floor of a kernel is the
larger of its bytes over the bandwidth and its operations over the arithmetic rate, both as this machine shows them in
the same minute. Bytes are those that it must read or write once, and for sparse products one row for each non-zero;
at this size all of it lies in cache, so the bandwidth is that of a copy that fits there.
"""

from collections import defaultdict
from time import perf_counter

import numpy as np
import torch

from mhaug import load_dataset
from mhaug.augmentation.chain_drop import ChainDrop
from mhaug.backbones.dropout import dropout
from mhaug.backbones.linear import linear
from mhaug.backbones.sparse import Sparse
from mhaug.data.view import View
from mhaug.methods.method import Problem, Step
from mhaug.objectives.consistency import kl_divergence
from mhaug.objectives.objective import ViewLogits
from mhaug.objectives.sharpness import entropy, normalised_entropy
from mhaug.training.plan import Plan
from mhaug.training.progress import Progress


def profile(options):
    """Cora, GCN."""
    from training import SETTINGS, write

    task = load_dataset("cora", options.data_dir)
    problem, plan = Problem.of(task), Plan.of("gcn", "mh-aug", {**SETTINGS, "accept": "blocks"})
    rates = machine()
    answer = {"machine": rates, "stages": stages(task, problem, plan), "kernels": kernels(task, problem, rates)}
    write(options, "profile.md", report(answer, options.threads))
    return answer


def seconds_each(work, repeats=50, rounds=7):
    """The best of several rounds: others on the machine only ever make it slower."""
    best = np.inf
    for _ in range(rounds):
        start = perf_counter()
        for _ in range(repeats):
            work()
        best = min(best, (perf_counter() - start) / repeats)
    return best


def machine():
    """Bytes a second of a copy in cache and in memory, operations a second of a large product."""
    small, large, square = torch.rand(2**16), torch.rand(2**26), torch.rand(768, 768)
    small_out, large_out, product = torch.empty_like(small), torch.empty_like(large), torch.empty_like(square)
    return {
        "cache_bytes": 8 * small.numel() / seconds_each(lambda: small_out.copy_(small), 500),
        "memory_bytes": 8 * large.numel() / seconds_each(lambda: large_out.copy_(large), 1, 3),
        "operations": 2 * 768**3 / seconds_each(lambda: torch.mm(square, square, out=product), 10),
    }


def stages(task, problem, plan, updates=200):
    """Median seconds of each stage: Algorithm 1 written out with the package's own parts and a clock between them."""
    model = plan.network(problem.graph.num_features, task.num_classes, seed=0)
    chain, progress = ChainDrop(plan.method.sampler(), task.graph), Progress()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    spent = defaultdict(list)
    for _ in range(updates):
        clock = Clock(spent)
        model.train()
        logits = model.shared(problem.graph)
        clock.stop("first product")
        original = logits(View())
        clock.stop("pass over the original graph")
        unsure = normalised_entropy(original)
        clock.stop("entropy for the chain")
        proposal = chain.propose(unsure)
        clock.stop("chain step and its view")
        views = ViewLogits(original, logits(proposal.previous), logits(proposal.current))
        clock.stop("passes over both samples")
        losses = plan.method.objective()(views, task.labels, task.split.train)
        numbers = losses.detached()
        clock.stop("losses")
        optimiser.zero_grad()
        losses.total.backward()
        clock.stop("backward")
        optimiser.step()
        clock.stop("optimiser")
        model.eval()
        with torch.no_grad():
            predicted = model(problem.graph)
        clock.stop("evaluation pass")
        step = Step(losses, 1, 1, proposal.info)
        progress.count(step, 1)
        progress.record(step, numbers, predicted, task)
        clock.stop("scores and bookkeeping")
    return {name: float(np.median(times)) for name, times in spent.items()}


class Clock:
    """Notes the time since it was last asked."""

    def __init__(self, spent):
        self.spent, self.last = spent, perf_counter()

    def stop(self, name):
        now = perf_counter()
        self.spent[name].append(now - self.last)
        self.last = now


def kernels(task, problem, rates):
    """Each kernel at the sizes of this update: calls an update, seconds a call, floor."""
    features, structure = problem.graph.features, problem.graph.connections.with_self.structure
    nodes, classes, hidden = task.num_nodes, task.num_classes, 64
    entries, non_zeros, inputs = structure.num_entries, features.values.numel(), features.shape[1]
    values, narrow = torch.rand(entries), torch.rand(nodes, classes)
    first, second, rows = (
        torch.rand(size, requires_grad=True) for size in ((inputs, hidden), (hidden, classes), (nodes, hidden))
    )
    product = linear(features, first)
    by_weight, by_rows = linear(rows.detach(), second), linear(rows, second.detach())
    parameters = [torch.rand(inputs, hidden, requires_grad=True), torch.rand(hidden, classes, requires_grad=True)]
    for parameter in parameters:
        parameter.grad = torch.rand_like(parameter)
    adam = torch.optim.Adam(parameters, lr=0.01)
    by_mkl = torch.sparse_csr_tensor(structure.pointers, structure.columns, values, structure.shape)
    # name: (calls, work, bytes, operations)
    table = {
        "X W": (2, lambda: linear(features, first.detach()), *_sparse_cost(non_zeros, nodes, hidden)),
        "Xᵀ G": (1, lambda: _gradient(product, first, rows.detach()), *_sparse_cost(non_zeros, inputs, hidden)),
        "A H, 64 wide": (7, lambda: Sparse(structure, values) @ rows.detach(), *_sparse_cost(entries, nodes, hidden)),
        "A H by MKL, to compare": (0, lambda: by_mkl @ rows.detach(), *_sparse_cost(entries, nodes, hidden)),
        "A Z, a class wide": (7, lambda: Sparse(structure, values) @ narrow, *_sparse_cost(entries, nodes, classes)),
        "H W": (4, lambda: linear(rows.detach(), second.detach()), *_dense_cost(nodes, hidden, classes)),
        "Hᵀ G": (3, lambda: _gradient(by_weight, second, narrow), *_dense_cost(nodes, hidden, classes)),
        "G Wᵀ": (3, lambda: _gradient(by_rows, rows, narrow), *_dense_cost(nodes, hidden, classes)),
        # a word of random bits serves four values and takes some twenty operations
        "dropout": (3, lambda: dropout(rows.detach(), 0.5), 8 * rows.numel(), 5 * rows.numel()),
        # an exponential is some twenty operations
        "entropies": (2, lambda: entropy(narrow), 4 * narrow.numel(), 30 * narrow.numel()),
        "KL divergences": (1, lambda: kl_divergence(narrow, narrow), 8 * narrow.numel(), 60 * narrow.numel()),
        "Adam": (1, adam.step, 28 * first.numel(), 15 * first.numel()),
    }
    answer = {}
    for name, (calls, work, size, operations) in table.items():
        floor = max(size / rates["cache_bytes"], operations / rates["operations"])
        answer[name] = {"calls": calls, "seconds": seconds_each(work), "floor": floor}
    return answer


def _gradient(product, weight, grad):
    torch.autograd.grad(product, weight, grad, retain_graph=True)


def _sparse_cost(non_zeros, rows, width):
    """Value, place and one row of the dense side for each non-zero; the result once."""
    return non_zeros * (8 + 4 * width) + 4 * rows * width, 2 * non_zeros * width


def _dense_cost(rows, inputs, outputs):
    return 4 * (rows * inputs + rows * outputs + inputs * outputs), 2 * rows * inputs * outputs


def report(answer, threads):
    """Both tables for readers."""
    rates, total = answer["machine"], sum(answer["stages"].values())
    lines = [
        f"One mh-aug update on Cora, GCN, {threads} thread(s): {1e3 * total:.2f} ms. Made by",
        "`python benchmarks/training.py --only profile`. The floors assume what this machine showed in the same run:",
        f"{rates['cache_bytes'] / 1e9:.0f} GB/s in cache, read and written; {rates['operations'] / 1e9:.0f} GFLOP/s.",
        "",
        "| stage | ms | share |",
        "|---|---|---|",
        *(f"| {name} | {1e3 * spent:.3f} | {spent / total:.0%} |" for name, spent in answer["stages"].items()),
        "",
        "| kernel | calls | µs a call | floor, µs | over its floor | ms an update |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in answer["kernels"].items():
        spent, floor = 1e6 * row["seconds"], 1e6 * row["floor"]
        each = f"{row['calls']} | {spent:.0f} | {floor:.1f} | {spent / floor:.1f} | {1e-3 * row['calls'] * spent:.2f}"
        lines.append(f"| {name} | {each} |")
    sums = [sum(row["calls"] * row[name] for row in answer["kernels"].values()) for name in ("seconds", "floor")]
    lines.append(f"| together | | | | {sums[0] / sums[1]:.1f} | {1e3 * sums[0]:.2f} (floor {1e3 * sums[1]:.2f}) |")
    return "\n".join(lines) + "\n"
