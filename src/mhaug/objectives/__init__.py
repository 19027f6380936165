"""Logits in, losses out: the terms of the paper's Eqs. 8-9. Knows nothing of models, chains or graphs."""

from mhaug.objectives.consistency import consistency_loss, kl_divergence
from mhaug.objectives.objective import Losses, ViewLogits, total_loss
from mhaug.objectives.sharpness import entropy, normalised_entropy, sharpness_loss
from mhaug.objectives.supervised import supervised_loss

__all__ = [
    "Losses",
    "ViewLogits",
    "consistency_loss",
    "entropy",
    "kl_divergence",
    "normalised_entropy",
    "sharpness_loss",
    "supervised_loss",
    "total_loss",
]
