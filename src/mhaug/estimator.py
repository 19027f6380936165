"""`NodeClassifier`: fit, predict, save, load. Training in five lines, on a PyG graph and a handful of labels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mhaug import checks, model_files
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.data.as_task import as_task, truth
from mhaug.data.memory_mapped import MemoryMapped
from mhaug.data.task import NodeTask
from mhaug.distributed.world import World
from mhaug.methods.method import Problem
from mhaug.minibatch.inference import infer
from mhaug.minibatch.large_graph import LargeGraph
from mhaug.objectives.non_finite import NonFiniteLossError
from mhaug.threads import threads_for
from mhaug.training.blueprint import Blueprint
from mhaug.training.fit import fit
from mhaug.training.plan import OWN_MODULE
from mhaug.training.progress import Progress
from mhaug.training.replicas.fit import ReplicaFit
from mhaug.training.replicas.group import fit_together, group_key
from mhaug.training.result import FitResult


class NodeClassifier:
    """Learns the classes of nodes from a few labels.

    `method` is a row of Table 1 ("mh-aug", "vanilla", ...); `backbone` a name ("gcn", "sage", "gat") or any module
    with `forward(x, edge_index)`. `settings` are hyper-parameters by name (`hidden`, `learning_rate`,
    `edge_strength`, `max_updates`, ...); those left out come from the presets.
    """

    def __init__(
        self,
        method: str = "mh-aug",
        backbone: str | nn.Module = "gcn",
        seed: int = 0,
        *,
        device: str | torch.device = "cpu",
        **settings: Any,
    ) -> None:
        self.method, self.backbone, self.seed, self.device, self.settings = method, backbone, seed, device, settings
        self._blueprint.plan("")  # what is wrong is said now
        self.model_: Backbone | None = None
        self.result_: FitResult | None = None
        self.class_names_: list[str] | None = None
        self._dataset = ""
        self._kept: dict[str, Tensor] = {}  # what the method predicts with beside the weights

    def fit(
        self,
        data: Any,
        *,
        train_mask: Tensor | None = None,
        val_mask: Tensor | None = None,
        checkpoint: Path | None = None,
        checkpoint_every: int = 100,
        report: Callable[[Progress], None] | None = None,
        world: World | None = None,
    ) -> "NodeClassifier":
        """Train on a PyG `Data` (its `train_mask` and `val_mask`, or those passed) or on a `NodeTask`.

        The weights of the best validation accuracy are kept; without validation nodes, the last ones. With
        `checkpoint`, a killed fit goes on where it was. With several ranks in `world`, gradients are averaged over
        them. torch's global generator is left as it was found.
        """
        task = as_task(data, train_mask, val_mask).to(self.device)
        plan = self._blueprint.plan(task.name)
        in_memory = not isinstance(task.graph.x, MemoryMapped)
        checks.require(in_memory or plan.batching.on, "batch_size", "given where features are in a file", None)
        devices = [torch.cuda.current_device()] if task.labels.is_cuda else []
        options: dict[str, Any] = {"checkpoint": checkpoint, "checkpoint_every": checkpoint_every, "report": report}
        world = world or World.alone()
        with torch.random.fork_rng(devices=devices), threads_for(task.graph.num_edges):
            # on a GPU a single run is a batch of one
            alone = task.labels.is_cuda and world.size == 1
            if alone and isinstance(self.backbone, str) and group_key(plan) is not None:
                return self.take_from(fit_together([task], [plan], [self.seed], **options), 0, task)
            network = self._blueprint.network(plan, task.graph.x.shape[1], task.num_classes).to(self.device)
            if plan.batching.on:
                learner = plan.begin_in_batches(task, LargeGraph.of(task.graph), network, seed=self.seed, world=world)
                result = fit(task, learner, plan.config, **options, world=world)
                return self._adopt(network, result, task)
            problem = Problem.of(task)
            learner = plan.begin(problem, network, seed=self.seed, rank=world.rank)
            result = fit(task, learner, plan.config, **options, world=world)
        return self._adopt(network, result, task, plan.method.kept(learner, problem.graph))

    def take_from(self, batch: ReplicaFit, index: int, task: NodeTask) -> "NodeClassifier":
        """Become run `index` of a batch that was trained together with this classifier's settings."""
        result = batch.results[index]
        if batch.failed()[index]:
            message = (
                f"training stopped at step {result.steps} (after update {result.updates}): the loss or its gradient"
            )
            raise NonFiniteLossError(f"{message} is not finite", result if result.updates else None)
        plan = self._blueprint.plan(task.name)
        network = self._blueprint.network(plan, int(task.graph.x.shape[1]), task.num_classes)
        network.load_state_dict(batch.best_weights(index))
        return self._adopt(network.to(self.device), result, task)

    def _adopt(
        self, network: Backbone, result: FitResult, task: NodeTask, kept: dict[str, Tensor] | None = None
    ) -> "NodeClassifier":
        self.model_, self.result_, self._kept, self._dataset = network, result, kept or {}, task.name
        self.class_names_ = getattr(task.graph, "class_names", None)
        self.in_features_, self.num_classes_ = int(task.graph.x.shape[1]), task.num_classes
        return self

    @torch.no_grad()
    def predict_proba(self, data: Any) -> Tensor:
        """Probabilities [V, C] on the CPU, for any graph with the same features.

        A method that learns on changed edges predicts on them too, where it gets its training graph back.
        """
        model, plan = self._fitted(), self._blueprint.plan(self._dataset)
        data = data.graph if isinstance(data, NodeTask) else data
        in_batches = plan.batching.on
        graph = LargeGraph.of(data, device=self.device) if in_batches else GraphInput.from_data(data)
        rule = f"of {self.in_features_} columns, as in training"
        checks.require(graph.num_features == self.in_features_, "x", rule, graph.num_features)
        if isinstance(graph, LargeGraph):
            return torch.softmax(infer(model, graph, len(plan.batching.hops(model))), -1).cpu()
        logits = plan.method.predict(model.eval(), graph.to(self.device), self._kept)
        return torch.softmax(logits, -1).cpu()

    def predict(self, data: Any) -> Tensor:
        """The most likely class of each node, [V]."""
        return self.predict_proba(data).argmax(-1)

    def score(self, data: Any, mask: Tensor | None = None) -> float:
        """Accuracy on `mask`; else on the graph's test nodes; else on all nodes with a label."""
        self._fitted()
        labels, nodes = truth(data, mask)
        known = labels[nodes]
        checks.require(known.numel() > 0, "mask", "of at least one node", 0)
        rule = f"in 0..{self.num_classes_ - 1}, as in training"
        in_range = int(known.min()) >= 0 and int(known.max()) < self.num_classes_
        checks.require(in_range, "labels", rule, f"{int(known.min())}..{int(known.max())}")
        return float((self.predict(data)[nodes] == known).double().mean())

    def save(self, folder: str | Path) -> None:
        """Write `model.safetensors` and `classifier.json` into `folder`. No pickle."""
        model_files.save(Path(folder), self._fitted(), self._description(), self._kept)

    @classmethod
    def load(cls, folder: str | Path, *, backbone: nn.Module | None = None, device: str = "cpu") -> "NodeClassifier":
        """Read what `save` wrote. A classifier with a module of the user's own needs one of that kind to fill."""
        description, weights, kept = model_files.load(Path(folder))
        own = description["backbone"] == OWN_MODULE
        checks.require(not own or backbone is not None, "backbone", "given: the saved one was the user's own", None)
        clf = cls(
            description["method"],
            backbone if own and backbone is not None else description["backbone"],
            description["seed"],
            device=device,
            **description["settings"],
        )
        clf.in_features_, clf.num_classes_ = description["in_features"], description["num_classes"]
        clf.class_names_ = description["class_names"]
        plan = clf._blueprint.plan(description["dataset"])
        network = clf._blueprint.network(plan, clf.in_features_, clf.num_classes_)
        model_files.fill(network, weights, Path(folder))
        clf.model_, clf._dataset, clf._kept = network.to(device), description["dataset"], kept
        return clf

    @property
    def _blueprint(self) -> Blueprint:
        return Blueprint(self.method, self.backbone, self.seed, self.settings)

    def _fitted(self) -> Backbone:
        if self.model_ is None:
            raise checks.RequestError("this NodeClassifier must be fitted first: call fit(data)")
        return self.model_

    def _description(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "backbone": self._blueprint.backbone_name,
            "seed": self.seed,
            "dataset": self._dataset,
            # presets may change; what was trained may not
            "settings": self._blueprint.settings(self._dataset),
            "in_features": self.in_features_,
            "num_classes": self.num_classes_,
            "class_names": self.class_names_,
        }
