"""`MHAug`: the sampler as its users see it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import Any

from torch import Tensor

from mhaug import checks
from mhaug.counted import counted
from mhaug.per_replica import PerReplica, check_number
from mhaug.sampling.backends import BACKENDS, new_chain
from mhaug.sampling.chain import Chain
from mhaug.sampling.entropy import check_entropy
from mhaug.sampling.moves.mixture import MOVES
from mhaug.sampling.recorder import Recorder
from mhaug.sampling.setup import Outline, Setup
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.target import EgoTerm
from mhaug.sampling.terms import Term
from mhaug.sampling.trace import Trace
from mhaug.sampling.work import resample_work
from mhaug.threads import threads_for

FIRST_LOOK = 100  # draws before the effective size is first asked for; then after every half as many more


@dataclass(frozen=True)
class MHAug:
    """Draws subgraphs of a graph from the target of the paper (Eqs. 2-4), by Metropolis-Hastings.

    `edges` and `nodes` say what is wished of each part; a part that is None is never dropped. `moves` is "resample"
    (the paper's: a fresh subset at each step), "flip", "swap" (which keeps the count) or "mixture"; a step of the
    last three is a round of many elementary moves. `step_size` is σ_Δ of the paper's move, one number or a pair
    (edges, nodes). `accept="joint"` is the paper's rule; "blocks" accepts the two parts separately, with the same law
    and more acceptances. `backend="auto"` takes numba on a CPU and torch elsewhere. `extra` is a term of one's own
    in the target of the edges (see `terms.py`).
    """

    edges: EgoTerm | None = None
    nodes: EgoTerm | None = None
    hops: int = 2
    moves: str = "mixture"
    accept: str = "blocks"
    step_size: PerReplica | tuple[PerReplica, PerReplica] = 0.03
    backend: str = "auto"
    extra: Term | None = None

    def __post_init__(self) -> None:
        some_part = self.edges is not None or self.nodes is not None
        checks.require(some_part, "edges", "an EgoTerm where 'nodes' is None (one part must be dropped)", None)
        for name, term in (("edges", self.edges), ("nodes", self.nodes)):
            checks.require(isinstance(term, EgoTerm | None), name, "an EgoTerm or None", term)
        rule = "None where 'edges' is None: it is a term of the edges"
        checks.require(self.extra is None or self.edges is not None, "extra", rule, self.extra)
        checks.whole_number(self.hops, "hops", 1)
        checks.one_of(self.moves, "moves", MOVES)
        checks.one_of(self.accept, "accept", ("blocks", "joint"))
        checks.one_of(self.backend, "backend", BACKENDS)
        allowed = self.accept == "blocks" or self.moves == "resample"
        rule = "'blocks' unless moves='resample': other moves change one part at a time"
        checks.require(allowed, "accept", rule, self.accept)
        checks.require(len(self._step_sizes()) == 2, "step_size", "a number or a pair (edges, nodes)", self.step_size)
        for size in self._step_sizes():
            check_number(size, "step_size", 0.0, open_low=True)

    @property
    def terms(self) -> dict[str, EgoTerm]:
        """The wishes by part: "edges", "nodes"."""
        both = {"edges": self.edges, "nodes": self.nodes}
        return {part: term for part, term in both.items() if term is not None}

    def outline(self, num_nodes: int, num_units: int, work: Mapping[str, float], *, chains: int = 1) -> Outline:
        """The moves for a graph of these sizes; `work` is what a resample of each part costs there."""
        step_sizes = dict(zip(("edges", "nodes"), self._step_sizes(), strict=True))
        joint = self.accept == "joint"
        return Outline(num_nodes, num_units, self.terms, step_sizes, dict(work), self.moves, joint, self.hops, chains)

    def setup(self, graph: UnitGraph, *, chains: int = 1) -> Setup:
        """Targets and moves for this graph."""
        work = {part: resample_work(graph, self.hops, part) for part in self.terms}
        return self.outline(graph.num_nodes, graph.num_units, work, chains=chains).on(graph, self.extra)

    def chain(self, data: Any, *, chains: int = 1, seed: int = 0) -> Chain:
        """Chains to step by hand on the graph of `data`: anything with `edge_index` and `num_nodes`, or a task."""
        checks.whole_number(chains, "chains", 1)
        data = getattr(data, "graph", data)
        is_graph = hasattr(data, "edge_index") and hasattr(data, "num_nodes")
        checks.require(is_graph, "data", "a homogeneous graph, or a NodeTask", type(data).__name__)
        checks.whole_number(int(data.num_nodes or 0), "data.num_nodes", 1)
        graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
        return new_chain(self.setup(graph, chains=chains), backend=self.backend, seed=seed)

    def sample(
        self,
        data: Any,
        *,
        draws: int = 1000,
        warmup: int = 200,
        thin: int = 1,
        chains: int = 4,
        seed: int = 0,
        entropy: Tensor | None = None,
        keep_masks: bool = False,
        progress: bool = False,
        until_ess: float | None = None,
    ) -> Trace:
        """Run the chains and keep every `thin`-th state after `warmup` steps, repeats included.

        Chains start far apart (from the whole graph to the empty one), so that R-hat means something. With
        `until_ess`, drawing stops as soon as log P and the mean ego changes have that many effective draws;
        `draws` is then the most that is drawn.
        """
        for name, value, low in (("draws", draws, 1), ("warmup", warmup, 0), ("thin", thin, 1)):
            checks.whole_number(value, name, low)
        if until_ess is not None:
            checks.number_in(until_ess, "until_ess", 0.0, open_low=True)
        chain = self.chain(data, chains=chains, seed=seed)
        check_entropy(entropy, chain.graph.num_nodes)
        started = perf_counter()
        with threads_for(len(chain.graph.unit_of_column)):
            for _ in counted(chain.warm_up(warmup, entropy), warmup, "warm-up", shown=progress):
                pass
            recorder = Recorder(chain, draws, keep_masks=keep_masks)
            look_at = FIRST_LOOK
            for draw in counted(range(1, draws + 1), draws, "draws", shown=progress):
                recorder.record(chain.step(entropy, rounds=thin), chain.log_prob(entropy))
                if until_ess is not None and draw >= look_at:
                    if recorder.fewest_effective() >= until_ess:
                        break
                    look_at += look_at // 2
        settings = {
            "sampler": {**asdict(replace(self, extra=None)), "extra": repr(self.extra)},
            "draws": draws,
            "warmup": warmup,
            "thin": thin,
            "chains": chains,
        }
        return recorder.trace({**settings, "seed": seed, "seconds": perf_counter() - started})

    def _step_sizes(self) -> tuple[PerReplica, ...]:
        is_pair = isinstance(self.step_size, tuple | list)
        return tuple(self.step_size) if is_pair else (self.step_size, self.step_size)  # type: ignore[arg-type, return-value]
