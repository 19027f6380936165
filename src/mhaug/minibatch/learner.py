"""Algorithm 1 in batches: the chain lives on the whole graph, and batches are cut from where it stands."""

import torch
from torch import Tensor

from mhaug import checks, rng
from mhaug.augmentation.augmenter import Augmenter
from mhaug.backbones.backbone import Backbone
from mhaug.data.task import NodeTask
from mhaug.distributed.world import World
from mhaug.methods.augmented import advance
from mhaug.methods.augmented_method import AugmentedMethod
from mhaug.methods.chain_method import ChainMethod
from mhaug.methods.method import Step
from mhaug.minibatch.batching import Batching
from mhaug.minibatch.engines import new_sampler
from mhaug.minibatch.inference import infer
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.minibatch.sample import Sample, under
from mhaug.minibatch.seed_order import SeedOrder
from mhaug.objectives.objective import Losses, ViewLogits
from mhaug.objectives.sharpness import normalised_entropy


class MiniBatchLearner:
    """The learner of an augmented method, one batch an update. See `docs/large_graphs.md`.

    ε_i comes from the last evaluation: a pass over all nodes that is made anyway, by one network, without dropout and
    with all neighbours. Between two evaluations P stands still.

    Ranks share one order of batches: in every round each takes the next one, so that together they are through an
    epoch sooner. They share ε too, and the work of an evaluation. The chain of each is its own, unless it is one in
    parts: then they share that and its samples, and a sample is done when all ranks together have had its batches.
    """

    def __init__(
        self,
        task: NodeTask,
        graph: LargeGraph,
        backbone: Backbone,
        method: AugmentedMethod,
        batching: Batching,
        *,
        seed: int,
        world: World | None = None,
    ) -> None:
        assert batching.batch_size is not None
        self.model, self._world = backbone, world or World.alone()
        self._graph, self._labels, self._seed = graph, task.labels, seed
        self._shared = batching.chain_parts is not None
        self._augmenter, self._recipe = _augmenter(method, task, batching, seed, self._world), method.recipe()
        self._hops = batching.hops(backbone)
        self._sampler = new_sampler(graph, self._hops, replace=batching.with_replacement)
        self._per_sample = batching.batches_per_sample
        labelled = task.split.train.nonzero().squeeze(1)
        everyone = torch.arange(task.num_nodes, device=labelled.device)
        self._labelled = SeedOrder(labelled, batching.batch_size, role="labelled")
        self._everyone = SeedOrder(everyone, batching.batch_size, role="everyone")
        # how many batches the ranks have had together
        self._batches, self._sample = 0, Sample({}, batches=self._per_sample)
        self._entropy: Tensor | None = None

    def step(self, max_proposals: int) -> Step:
        """Move the chain where a new sample is due, and learn from one batch of it."""
        proposals, accepted = 0, 0
        if self._sample.batches >= self._per_sample:
            if self._augmenter.needs_entropy and self._entropy is None:
                self.predict()
            move = advance(self._augmenter, self._entropy, self._recipe, max_proposals)
            proposals, accepted = move.proposals, int(move.proposal.accepted)
            if not move.learns:
                return Step(None, proposals, accepted, move.proposal.info, shared=self._shared)
            self._sample = Sample.of(move.proposal, self._graph.whole)
        self.model.train()
        losses = self._losses()
        self._batches += self._world.size
        self._sample.batches += self._world.size if self._shared else 1
        return Step(losses, proposals, accepted, self._sample.info, shared=self._shared)

    def predict(self) -> Tensor:
        """On the original graph, from all neighbours; ε is taken from here."""
        logits = infer(self.model, self._graph, len(self._hops), world=self._world)
        if self._augmenter.needs_entropy and (self._recipe.live_entropy or self._entropy is None):
            self._entropy = normalised_entropy(logits)
        return logits

    def state_dict(self) -> dict[str, Tensor]:
        """The augmenter, ε, the count of batches, and the views that more batches are to be cut from.

        Of what all ranks share rank 0 has it all, and the others nothing.
        """
        saved = {f"augmenter.{name}": value for name, value in self._augmenter.state_dict().items()}
        if self._shared and not self._world.leads:
            return {}
        saved["batches"] = torch.tensor([self._seed, self._batches, self._sample.batches])
        saved |= {} if self._entropy is None else {"entropy": self._entropy}
        if self._sample.batches < self._per_sample:
            saved |= self._sample.saved(self._recipe.views)
        return saved

    def load_state_dict(self, saved: dict[str, Tensor]) -> None:
        """Go on from there; from nothing where `join` brings it all."""
        if self._shared and not saved:
            return
        self._augmenter.load_state_dict(under("augmenter.", saved))
        self._seed, self._batches, cut = saved["batches"].tolist()
        self._entropy = saved.get("entropy")
        self._sample = Sample.restored(saved, self._graph.whole, cut)

    def join(self, saved: dict[str, Tensor]) -> None:
        """Share the order of batches and ε of the rank that has saved this, and its chain where that is shared.

        Else a sample of one's own is begun.
        """
        if self._shared:
            self.load_state_dict(saved)
            return
        self._seed, self._batches, _ = saved["batches"].tolist()
        self._entropy = saved.get("entropy")

    def _losses(self) -> Losses:
        """The loss of the next batch: L_s over labelled nodes, the other terms over a sample of all nodes."""
        number = self._batches + self._world.rank
        known = wanted = self._labelled.batch(number, seed=self._seed)
        if self._recipe.regularises:
            wanted = torch.cat([known, self._everyone.batch(number, seed=self._seed)])
        # a node can be labelled and drawn among all; a batch has it once
        seeds, row = wanted.unique(return_inverse=True)
        generator = rng.stream(self._seed, "neighbours", number, device=seeds.device)
        batch = self._sampler.sample(seeds, generator=generator)
        features, first_rows = self._graph.rows(batch.n_id), self.model.gives_first_rows
        logits = self.model.shared(self._graph.graph_input(batch, features, first_rows=first_rows))
        rows = {
            name: logits(self._graph.cut(self._sample.views[name], batch, received=self.model.reads_received))[row]
            for name in ("original", "previous", "current")
            if name in self._recipe.views
        }
        labelled = torch.arange(len(wanted), device=wanted.device) < len(known)
        views = ViewLogits(**rows, sample_from=len(known) if self._recipe.regularises else 0)
        return self._recipe.loss(views, self._labels[wanted], labelled)


def _augmenter(method: AugmentedMethod, task: NodeTask, batching: Batching, seed: int, world: World) -> Augmenter:
    """One for all ranks where they share a chain; else one for this rank, with draws of its own."""
    if batching.chain_parts is None:
        return method.augmenter(task.graph, seed=rng.seed_of_rank(seed, world.rank))
    assert isinstance(method, ChainMethod)
    rule = f"at most the number of nodes ({task.num_nodes})"
    checks.require(batching.chain_parts <= task.num_nodes, "chain_parts", rule, batching.chain_parts)
    return method.shared_augmenter(task.graph, parts=batching.chain_parts, seed=seed, world=world)
