"""A small problem that every method can learn, and the shortest way to a learner on it."""

from functools import cache

from mhaug import NodeTask, rng
from mhaug.backbones.catalogue import build_backbone
from mhaug.data.splits import per_class_split
from mhaug.data.toy_graphs import planted_partition
from mhaug.methods.catalogue import build_method
from mhaug.methods.method import Learner, Problem

# rounds and warm-ups that fit into the forty updates of the contract
SHORT_SETTINGS: dict[str, dict[str, float]] = {
    "bvat": {"sharpness_weight": 0.2},  # at 0.7 the first guesses of so short a run are its last
    "ada-edge": {"rounds": 3, "round_updates": 12, "add_confidence": 0.6, "remove_confidence": 0.6},
    "gaug-m": {"encoder_epochs": 50},
    "gaug-o": {"predictor_warmup": 20, "classifier_warmup": 8},
}


@cache
def planted_task() -> NodeTask:
    """Three groups of forty nodes; features alone tell little, the edges tell the rest."""
    data = planted_partition(3, 40, p_in=0.15, p_out=0.01, features=8, noise=1.5, seed=1)
    return NodeTask.from_data(data, split=per_class_split(data.y, train=5, validation=10), name="planted")


def begin(
    method: str,
    backbone: str = "gcn",
    *,
    task: NodeTask | None = None,
    seed: int = 0,
    dropout: float = 0.5,
    **settings,
) -> Learner:
    problem = Problem.of(task or planted_task())
    network = build_backbone(backbone, 8, 3, hidden=16, dropout=dropout, rng=rng.stream(seed, "weights"))
    rng.seed_global(seed, "dropout")
    return build_method(method, **{**SHORT_SETTINGS.get(method, {}), **settings}).begin(problem, network, seed=seed)
