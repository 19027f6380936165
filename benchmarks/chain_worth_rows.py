"""Rows of `chain_worth.py`: where the views of a row come from, and what is learned from them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

SHARP = {"spread_floor": 0.1, "moves": "mixture"}
WIDE = {"spread_floor": 1.0, "moves": "mixture"}
FLAT = {"spread_floor": 1.0, "moves": "resample"}


@dataclass(frozen=True)
class Row:
    """Where views come from, what they are compared with, and which number of a node steers the target."""

    words: str
    draws: dict[str, Any] | None  # of the chain; None: independent draws
    follows: str = "nothing"  # "entropy", "degree", "distance": μ_i = μ times it, or times 1 - it
    falls: bool = False
    loss: str = "consecutive"  # or "sharpened mean", of two independent sources
    rounds: int = 1  # of the chain between two samples


ROWS = {
    "fixed": Row("fixed rates", None),
    "flat": Row("the paper's move, wide spreads that follow the entropy", {**FLAT, "slopes": (10.0, 5.0)}),
    "sharp": Row("σ = 0.1, the mixture", SHARP),
    "sure": Row("σ = 0.1, sure nodes are changed more: μ_i = μ (1 - ε_i)", SHARP, "entropy", falls=True),
    "sure, wide": Row("σ = 1, μ_i = μ (1 - ε_i)", WIDE, "entropy", falls=True),
    "sure rates": Row("independent draws, each node at its own rate μ (1 - ε_i)", None, "entropy", falls=True),
    "unsure": Row("σ = 0.1, unsure nodes are changed more: μ_i = μ ε_i", SHARP, "entropy"),
    "hubs": Row("σ = 0.1, nodes of high degree are changed more", SHARP, "degree"),
    "far": Row("σ = 0.1, nodes far from labels are changed more", SHARP, "distance"),
    "near": Row("σ = 0.1, nodes near labels are changed more", SHARP, "distance", falls=True),
    "apart": Row("σ = 0.1, five rounds between two samples", SHARP, rounds=5),
    "fixed, mean": Row("fixed rates, sharpened mean of two draws", None, loss="sharpened mean"),
    "sharp, mean": Row("σ = 0.1, sharpened mean of two chains", SHARP, loss="sharpened mean"),
    "sure, mean": Row(
        "σ = 0.1, μ_i = μ (1 - ε_i), sharpened mean of two chains", SHARP, "entropy", True, loss="sharpened mean"
    ),
}


def common_settings(trial):
    """The same for every row: of the network and the loss, and how much is dropped of edges and of nodes."""
    rng = np.random.default_rng(trial)
    return {
        "dropout": float(rng.choice([0.2, 0.5, 0.6, 0.8])),
        "input_dropout": float(rng.choice([0.0, 0.2, 0.5])),
        "learning_rate": float(rng.choice([0.005, 0.01, 0.02])),
        "consistency_weight": float(np.exp(rng.uniform(np.log(0.1), np.log(2.0)))),
        "sharpness_weight": float(rng.choice([0.0, 0.1, 0.2, 0.5])),
        "temperature": float(rng.choice([0.2, 0.3, 0.5])),
        "edges": float(rng.uniform(0.05, 0.7)),
        "nodes": float(rng.uniform(0.05, 0.7)),
    }


class Twice:
    """Two independent sources of views, as the previous and the current one."""

    def __init__(self, one, other):
        self._sources, self.needs_entropy = (one, other), one.needs_entropy

    def propose(self, entropy):
        from mhaug.augmentation.augmenter import Proposal

        first, second = (source.propose(entropy) for source in self._sources)
        return Proposal(first.current, second.current, True, first.info)


class OwnRates:
    """Independent draws: node i goes with probability ρ (1 - ε_i), an edge with the mean of that over its ends."""

    needs_entropy = True

    def __init__(self, graph, edges, nodes, seed):
        from mhaug import rng
        from mhaug.sampling.subgraph import UnitGraph

        self._graph, self._rates = UnitGraph.from_edge_index(graph.edge_index, graph.num_nodes), (edges, nodes)
        self._rng = rng.stream(seed, "own rates")
        self._current = self._view(torch.ones(self._graph.num_units).bool(), torch.ones(graph.num_nodes).bool())

    def propose(self, entropy):
        from mhaug.augmentation.augmenter import Proposal

        previous, sure = self._current, 1.0 - entropy.double()
        one, other = self._graph.unit_edges
        chances = (self._rates[0] * (sure[one] + sure[other]) / 2, self._rates[1] * sure)
        kept = [torch.rand(len(each), generator=self._rng, dtype=torch.float64) >= each for each in chances]
        self._current = self._view(*kept)
        change = {f"{part}_change": float(1.0 - each.double().mean()) for part, each in zip(PARTS, kept, strict=True)}
        return Proposal(previous, self._current, True, change)

    def _view(self, edges, nodes):
        from mhaug.data.view import View, node_scale

        return View(self._graph.column_kept(edges.unsqueeze(0))[0], node_scale(nodes.unsqueeze(0))[0])


PARTS = ("edge", "node")


class Led:
    """A chain whose ε is a fixed number of each node; and which goes several rounds for each sample."""

    def __init__(self, chain, field, rounds):
        self._chain, self._field, self._rounds = chain, field, rounds
        self.needs_entropy = field is None

    def propose(self, entropy):
        from mhaug.augmentation.augmenter import Proposal

        steps = [self._chain.propose(entropy if self._field is None else self._field) for _ in range(self._rounds)]
        return Proposal(steps[0].previous, steps[-1].current, True, steps[-1].info)


def source(row, task, settings, seed):
    """Views of the graph."""
    from mhaug import EgoTerm, MHAug
    from mhaug.augmentation.chain_drop import ChainDrop
    from mhaug.augmentation.random_drop import RandomDrop

    graph = task.graph
    if row.draws is None and row.follows == "entropy":
        return OwnRates(graph, settings["edges"], settings["nodes"], seed)
    if row.draws is None:
        return RandomDrop(graph, edge_rate=settings["edges"], node_rate=settings["nodes"], seed=seed)
    slopes = row.draws.get("slopes", (0.0, 0.0))
    terms = {}
    for part, slope in zip(("edges", "nodes"), slopes, strict=True):
        wish = {"strength": settings[part], "spread_floor": row.draws["spread_floor"], "spread_slope": slope}
        if row.follows != "nothing" and row.falls:
            wish["strength_slope"] = -settings[part]
        elif row.follows != "nothing":
            wish |= {"strength": 0.0, "strength_slope": settings[part]}
        terms[part] = EgoTerm(**wish)
    sampler = MHAug(**terms, moves=row.draws["moves"], step_size=(0.1, 0.03))
    return Led(ChainDrop(sampler, graph, seed=seed), field(row.follows, task), row.rounds)


def field(follows, task):
    """The number in [0, 1] of each node that stands for ε; None: the entropy itself."""
    if follows in ("nothing", "entropy"):
        return None
    edges, nodes = task.graph.edge_index, task.num_nodes
    if follows == "degree":
        degrees = torch.bincount(edges[0], minlength=nodes)
        return degrees.argsort(stable=True).argsort().double() / max(nodes - 1, 1)
    distance = torch.full((nodes,), torch.inf, dtype=torch.float64).masked_fill(task.split.train, 0.0)
    for _ in range(nodes):
        arrives = torch.full_like(distance, torch.inf).scatter_reduce(0, edges[1], distance[edges[0]] + 1, "amin")
        closer = torch.minimum(distance, arrives)
        if torch.equal(closer, distance):
            break
        distance = closer
    # what no label reaches counts as farthest
    farthest = distance[distance.isfinite()].max()
    return distance.clamp(max=float(farthest)) / farthest.clamp(min=1.0)


def recipe(row, settings):
    """What is learned: Eq. 9, or with the sharpened mean of both views as the target of each."""
    from mhaug.methods.augmented import Recipe
    from mhaug.methods.mh_aug import MHAugReg

    weights = {name: settings[name] for name in ("consistency_weight", "sharpness_weight")}
    if row.loss == "consecutive":
        paper = MHAugReg(**weights, train_on="every-step")
        return paper.recipe()

    def loss(logits, labels, nodes):
        from mhaug.objectives.log_softmax import log_softmax
        from mhaug.objectives.objective import Losses
        from mhaug.objectives.sharpening import sharpened_average
        from mhaug.objectives.sharpness import sharpness_loss
        from mhaug.objectives.supervised import supervised_loss

        both = [logits.of("previous"), logits.of("current")]
        known = sum(supervised_loss(each, labels, nodes) for each in both) / 2
        target = sharpened_average([each.detach() for each in both], settings["temperature"])
        spread = sum(-(target * log_softmax(each)).sum(-1).mean() for each in both) / 2
        total = known + weights["consistency_weight"] * spread
        terms = {"supervised": known, "consistency": spread}
        if weights["sharpness_weight"]:
            terms["sharpness"] = sharpness_loss(logits.of("original"))
            total = total + weights["sharpness_weight"] * terms["sharpness"]
        return Losses(total, terms)

    views = {"previous", "current"} | ({"original"} if weights["sharpness_weight"] else set())
    return Recipe(frozenset(views), loss, every_step=True, regularises=True)
