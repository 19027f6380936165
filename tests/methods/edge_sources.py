"""Graphs, codes and laws that edges are drawn from in tests."""

import torch
from torch_geometric.data import Data

from mhaug.backbones.graph_input import GraphInput
from mhaug.methods.gaug_o import GAugO
from mhaug.methods.parts.all_pairs import AllPairs
from mhaug.methods.parts.edge_law import EdgeLaw
from mhaug.methods.parts.edge_sampling import Source
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.pair_sampler import PairSampler
from mhaug.methods.parts.proposed_pairs import ProposedPairs

LAW = EdgeLaw(predicted_share=0.6, temperature=0.8, density_cap=100.0)
NODES = 12
EVERY = 10**9
FINDS = {"all": AllPairs, "proposed": ProposedPairs}


def small_graph(*, loops: bool = False) -> GraphInput:
    generator = torch.Generator().manual_seed(0)
    known = KnownPairs.of(torch.randint(NODES, (2, 25), generator=generator), NODES).index
    columns = [known, known.flip(0)] + ([torch.tensor([[3], [3]])] if loops else [])
    x = torch.rand(NODES, 5, dtype=torch.float64, generator=generator)
    return GraphInput.from_data(Data(x=x, edge_index=torch.cat(columns, 1)), dtype=torch.float64)


def source(*, law: EdgeLaw = LAW, weighted: bool = True, seed: int = 0, loops: bool = False) -> Source:
    graph, generator = small_graph(loops=loops), torch.Generator().manual_seed(seed)
    known = KnownPairs.of(graph.edge_index, NODES)
    return Source(graph, known, law, weighted, lambda n: torch.rand(n, dtype=torch.float64, generator=generator))


def some_codes() -> torch.Tensor:
    codes = torch.rand(NODES, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
    return codes.requires_grad_()


def dense_probability(codes: torch.Tensor, known: KnownPairs, law: EdgeLaw = LAW) -> torch.Tensor:
    scores, edges = codes @ codes.t(), torch.zeros(NODES, NODES, dtype=torch.float64)
    edges[known.index[0], known.index[1]] = edges[known.index[1], known.index[0]] = 1.0
    return law.predicted_share * scores / scores.max() + (1.0 - law.predicted_share) * edges


def forms(origin: Source, absent: int = EVERY) -> dict:
    """Both ways to find what is drawn."""
    return {name: PairSampler(origin, find(origin), absent=absent) for name, find in FINDS.items()}


def sparse_source(nodes: int, edges: int, *, predicted_share: float = 0.5, seed: int = 0) -> Source:
    """A random graph, with the law of the default settings."""
    generator = torch.Generator().manual_seed(seed)
    known = KnownPairs.of(torch.randint(nodes, (2, edges), generator=generator), nodes)
    columns = torch.cat([known.index, known.index.flip(0)], 1)
    graph = GraphInput.from_data(Data(x=torch.rand(nodes, 4, generator=generator), edge_index=columns))
    law = GAugO(predicted_share=predicted_share).law()
    return Source(graph, known, law, True, lambda n: torch.rand(n, dtype=torch.float64, generator=generator))


def sparse_codes(nodes: int, power: float = 8.0) -> torch.Tensor:
    codes = torch.rand(nodes, 8, generator=torch.Generator().manual_seed(1)).pow(power)
    return codes.requires_grad_()
