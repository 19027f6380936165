"""ε as chains are given it: one number in [0, 1] for each node, and whether it is another than the last time."""

import torch
from torch import Tensor

from mhaug import checks


def check_entropy(entropy: Tensor | None, num_nodes: int) -> None:
    """ε is one number in [0, 1] for each node."""
    if entropy is not None:
        checks.shape(entropy, "entropy", (num_nodes,))
        _check_range(entropy)


def check_each(entropy: Tensor, chains: int, num_nodes: int) -> None:
    """The same, or such a row for each chain. On a GPU the numbers are not looked at, which would wait for it.

    NaN is let through: every candidate is then rejected, and training goes on to the loss of the broken network,
    which says what is wrong.
    """
    checks.shape(entropy, "entropy", (num_nodes,) if entropy.dim() == 1 else (chains, num_nodes))
    if entropy.device.type == "cpu" and not bool(entropy.isnan().any()):
        _check_range(entropy)


class LastEntropy:
    """The ε that chains were given last. To weigh all nodes anew is spared where it is given again."""

    def __init__(self, chains: int, num_nodes: int) -> None:
        self._chains, self._num_nodes = chains, num_nodes
        self._last: tuple[Tensor | None, int | None] = (torch.empty(0), -1)  # none seen yet

    def news(self, entropy: Tensor | None) -> Tensor | None:
        """ε of each chain on the CPU, float64 [chains, V], where it has changed; else None.

        Given are [V], [chains, V], or None for 0.
        """
        # the version tells whether a tensor was changed in place
        version = None if entropy is None else entropy._version
        if entropy is self._last[0] and version == self._last[1]:
            return None
        shape = (self._chains, self._num_nodes)
        if entropy is None:
            values = torch.zeros(shape[1])
        else:
            values = entropy.detach().cpu()
            check_each(values, *shape)
        self._last = (entropy, version)
        return values.double().expand(shape)


def _check_range(values: Tensor) -> None:
    low, high = (float(values.min()), float(values.max())) if values.numel() else (0.0, 0.0)
    checks.require(low >= 0.0 and high <= 1.0, "entropy", "in [0, 1] everywhere", f"{low:g} to {high:g}")
