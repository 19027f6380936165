"""AdaEdge (Chen et al. 2020): the graph is edited by the network's own sure predictions, round after round."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from mhaug import checks, rng
from mhaug.backbones.backbone import Backbone
from mhaug.methods.method import Problem, Step
from mhaug.methods.parts.class_buckets import random_missing, surest_missing
from mhaug.methods.parts.pseudo_labels import PseudoLabels
from mhaug.methods.parts.rewired import Rewired, RewiredLearner
from mhaug.methods.rewiring_method import RewiringMethod
from mhaug.sampling.subgraph import UnitGraph

PREFER = ("random", "surest")
USUAL_ROUND = 400  # where nobody says how long the run will be


@dataclass(frozen=True)
class AdaEdge(RewiringMethod):
    """Rounds of: train a fresh network on the current graph, then edit that graph by its predictions.

    An edit adds up to `add_share` · M pairs of one predicted class and removes up to `remove_share` · M pairs of
    two (M pairs in the original graph); both ends have to be as sure as `add_confidence` or `remove_confidence`. Of
    more pairs than that, those removed are the surest by c_u · c_v, and those added random ones, or with
    `prefer="surest"` the surest. The two never concern the same pair, so their order does not matter.

    A round is `round_updates` long (None: all rounds of a run are equally long), the last one as long as training
    lasts. An edit is by the weights of the last update before it. Which round is best is for the validation nodes to
    say: the training loop compares the updates of all rounds. Runs go one after another, since the number of edges
    differs between them.
    """

    rounds: int = 5
    round_updates: int | None = None
    add_share: float = 0.2
    remove_share: float = 0.8
    add_confidence: float = 0.95
    remove_confidence: float = 0.95
    prefer: str = "random"

    def __post_init__(self) -> None:
        checks.whole_number(self.rounds, "rounds", 1)
        if self.round_updates is not None:
            checks.whole_number(self.round_updates, "round_updates", 1)
        checks.number_in(self.add_share, "add_share", 0.0)
        checks.one_of(self.prefer, "prefer", PREFER)
        for name in ("remove_share", "add_confidence", "remove_confidence"):
            checks.number_in(getattr(self, name), name, 0.0, 1.0)

    def within(self, max_updates: int) -> "AdaEdge":
        """The same method with rounds that fit into a run of so many updates."""
        if self.round_updates is None:
            return replace(self, round_updates=max(1, max_updates // self.rounds))
        rule = f"below max_updates ({max_updates}), since no edge is changed before the second round"
        checks.require(
            self.rounds == 1 or self.round_updates < max_updates, "round_updates", rule, self.round_updates
        )
        return self

    def begin(self, problem: Problem, backbone: Backbone, *, seed: int) -> "AdaEdgeLearner":
        """Start on the original graph."""
        return AdaEdgeLearner(self, problem, backbone, seed=seed)


class AdaEdgeLearner(RewiredLearner):
    """The rounds of AdaEdge, one update at a time.

    A new round draws the weights anew in place, and its first step tells the training loop to begin with a fresh
    optimiser.
    """

    def __init__(self, method: AdaEdge, problem: Problem, backbone: Backbone, *, seed: int) -> None:
        self._method = method
        units = UnitGraph.from_edge_index(problem.graph.edge_index, problem.graph.num_nodes)
        self._add, self._remove = (int(share * units.num_units) for share in (method.add_share, method.remove_share))
        super().__init__(problem, Rewired(backbone, problem.graph, units, capacity=(method.rounds - 1) * self._add))
        self._updates, self._length = 0, method.round_updates or USUAL_ROUND
        self._rng = rng.stream(seed, "ada-edge weights")

    def step(self, max_proposals: int) -> Step:
        """The next update of this round, or the first of the next."""
        done, last = self._updates, self._method.rounds - 1
        fresh = done > 0 and done % self._length == 0 and done // self._length <= last
        if fresh:
            self.edit()
            self.model.backbone.reset_parameters(self._rng)
        self._updates += 1
        return replace(super().step(max_proposals), fresh=fresh)

    def edit(self) -> None:
        """Change the graph by what the network predicts on it now."""
        model = self.model
        labels = PseudoLabels.of(self.predict())
        units, added = model.units.unit_edges, model.added_pairs
        new = self._new_pairs(labels)
        present = torch.cat([model.kept, model.kept.new_ones(added.shape[1])])
        stays = self._stays(labels, torch.cat([units, added], 1), present)
        kept, still_added = stays.tensor_split([units.shape[1]])
        model.rewire(kept, torch.cat([added[:, still_added], new], 1))

    def _new_pairs(self, labels: PseudoLabels) -> Tensor:
        threshold, count, known = self._method.add_confidence, self._add, self.model.pairs
        if self._method.prefer == "surest":
            return surest_missing(labels, threshold, count, known)
        return random_missing(labels, threshold, count, known, uniform=self._uniform)

    def _uniform(self, size: int) -> Tensor:
        draws = torch.rand(size, dtype=torch.float64, generator=self._rng)
        return draws.to(self.model.kept.device)

    def _stays(self, labels: PseudoLabels, pairs: Tensor, present: Tensor) -> Tensor:
        """Which of the present pairs are left after the surest of two classes are gone."""
        wrong = present & ~labels.agree(pairs) & labels.both_above(pairs, self._method.remove_confidence)
        order = labels.pair_confidence(pairs).where(wrong, -1.0).sort(descending=True, stable=True).indices
        gone = torch.zeros_like(present)
        gone[order[: self._remove]] = True
        return present & ~(gone & wrong)

    def state_dict(self) -> dict[str, Tensor]:
        """Where the rounds stand, and the stream of the weights to come."""
        return {"updates": torch.tensor(self._updates), "rng": self._rng.get_state()}

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there."""
        self._updates = int(saved["updates"])
        self._rng.set_state(saved["rng"])

    def join(self, saved: dict[str, Tensor]) -> None:
        """The rounds are those of all ranks."""
        self.load_state_dict(saved)
