"""Predictions used as if they were labels: the likeliest class of each node, and how sure the network is of it."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class PseudoLabels:
    """ŷ_i = argmax p_i and c_i = max p_i of each node."""

    classes: Tensor  # long [V]
    confidence: Tensor  # double [V]

    @classmethod
    def of(cls, logits: Tensor) -> "PseudoLabels":
        """From logits [V, C]. In double precision: near 1 single precision ties what can still be ranked."""
        confidence, classes = logits.detach().double().softmax(-1).max(-1)
        return cls(classes, confidence)

    def agree(self, pairs: Tensor) -> Tensor:
        """Whether both ends of each pair [2, P] are predicted to be of one class."""
        return self.classes[pairs[0]] == self.classes[pairs[1]]

    def pair_confidence(self, pairs: Tensor) -> Tensor:
        """c_u · c_v of each pair."""
        return self.confidence[pairs[0]] * self.confidence[pairs[1]]

    def both_above(self, pairs: Tensor, threshold: float) -> Tensor:
        """Whether the network is as sure as that of both ends."""
        return (self.confidence[pairs] >= threshold).all(0)
