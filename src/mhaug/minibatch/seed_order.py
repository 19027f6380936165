"""Which nodes are the seeds of which batch."""

from torch import Tensor

from mhaug import rng


class SeedOrder:
    """Nodes in batches, every epoch in a new order.

    Batch t depends on the random seed and on t alone: a resumed run needs to know these two and nothing else.
    """

    def __init__(self, nodes: Tensor, batch_size: int, *, role: str) -> None:
        self._nodes, self._size, self._role = nodes, batch_size, role
        self.batches = -(-len(nodes) // batch_size)  # in an epoch
        self._known, self._order = (-1, -1), nodes

    def batch(self, number: int, *, seed: int) -> Tensor:
        """The nodes of batch `number`."""
        epoch, place = divmod(number, self.batches)
        if self._known != (seed, epoch):
            order = rng.ordering(seed, "seeds", self._role, epoch, size=len(self._nodes))
            self._known, self._order = (seed, epoch), self._nodes[order.to(self._nodes.device)]
        return self._order[place * self._size : (place + 1) * self._size]
