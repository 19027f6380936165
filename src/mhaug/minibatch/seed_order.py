"""Which nodes are the seeds of which batch."""

from torch import Tensor

from mhaug import rng


class SeedOrder:
    """Nodes in batches, every epoch in a new order.

    Batch t depends on the seed and on t alone: a resumed run needs to know t and nothing else.
    """

    def __init__(self, nodes: Tensor, batch_size: int, *, seed: int, role: str) -> None:
        self._nodes, self._size, self._seed, self._role = nodes, batch_size, seed, role
        self.batches = -(-len(nodes) // batch_size)  # in an epoch
        self._epoch, self._order = -1, nodes

    def batch(self, number: int) -> Tensor:
        """The seeds of batch `number`."""
        epoch, place = divmod(number, self.batches)
        if epoch != self._epoch:
            order = rng.ordering(self._seed, "seeds", self._role, epoch, size=len(self._nodes))
            self._epoch, self._order = epoch, self._nodes[order.to(self._nodes.device)]
        return self._order[place * self._size : (place + 1) * self._size]
