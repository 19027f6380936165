"""Tiny graphs with views of them: by hand, and from hypothesis."""

from types import SimpleNamespace
from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor

from mhaug.backbones import GraphInput
from mhaug.data.view import View

FEATURES = 5


class Case(NamedTuple):
    """A graph and a view of it, in double precision."""

    x: Tensor
    edge_index: Tensor
    view: View

    @property
    def graph(self) -> GraphInput:
        return GraphInput.from_data(SimpleNamespace(x=self.x, edge_index=self.edge_index), dtype=torch.float64)

    @property
    def filtered_edges(self) -> Tensor:
        return self.edge_index[:, self.view.edge_kept]

    @property
    def scaled_x(self) -> Tensor:
        return self.x * self.view.node_scale.unsqueeze(1)


def edges(*pairs: tuple[int, int]) -> Tensor:
    """`edge_index` of these (source, target) pairs."""
    return torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()


def example() -> Case:
    """Directed and undirected edges, a self-loop at 1, a repeated edge 0 → 2, and an isolated node 4."""
    edge_index = edges((0, 1), (1, 0), (1, 1), (0, 2), (0, 2), (2, 3))
    x = torch.randn(5, FEATURES, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    kept = torch.tensor([True, False, True, True, False, True])
    return Case(x, edge_index, View(kept, torch.tensor([1.0, 0.0, 1.5, 1.5, 1.0], dtype=torch.float64)))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any small graph: directed or not, with self-loops, repeats, isolated nodes, none or all edges dropped."""
    num_nodes = draw(st.integers(1, 6))
    node = st.integers(0, num_nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=10))
    if draw(st.booleans()):
        pairs = pairs + [(v, u) for u, v in pairs if u != v]
    keep = draw(st.sampled_from(["all", "none", "some"]))
    chosen = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    kept = [u == v or keep == "all" or (keep == "some" and bit) for (u, v), bit in zip(pairs, chosen, strict=True)]
    scale = draw(st.lists(st.sampled_from([0.0, 1.0, 1.5]), min_size=num_nodes, max_size=num_nodes))
    rng = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    x = torch.randn(num_nodes, FEATURES, generator=rng, dtype=torch.float64)
    view = View(torch.tensor(kept, dtype=torch.bool), torch.tensor(scale, dtype=torch.float64))
    return Case(x, edges(*pairs), view)
