"""What a neighbour sampler gives: a small graph, and where its nodes and columns lie in the large one."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """Names as in PyG's `NeighborLoader`: the seeds are the first `batch_size` nodes of `n_id`.

    Column c of `edge_index` joins nodes n_id[edge_index[:, c]] of the whole graph, where it is column `e_id[c]`;
    messages flow from sampled neighbours towards the seeds. Columns are sorted by target.
    """

    n_id: Tensor  # long [n]
    edge_index: Tensor  # long [2, e]
    e_id: Tensor  # long [e]
    batch_size: int
    num_sampled_nodes: tuple[int, ...] = ()  # the seeds, then those that each hop found
    num_sampled_edges: tuple[int, ...] = ()

    @property
    def by_hop(self) -> bool:
        """Whether it is known how many nodes and columns each hop found."""
        return len(self.num_sampled_edges) > 0

    @property
    def num_nodes(self) -> int:
        return len(self.n_id)
