"""Long chains follow P, and the test notices when they do not.

Law: draws are thinned until less than 1 in 10^4 of the correlation is left (the exact second eigenvalue says when),
so Pearson's X² over the cells has the chi-squared law with cells - 1 degrees of freedom. Tolerance: p > 1e-4, which
is the false-alarm rate of each test under fresh seeds; seeds are fixed, so a pass is a pass for good. The two
negative controls must fail the same test by far (p < 1e-12).
"""

import math
from dataclasses import dataclass

import pytest
import torch
from scipy.stats import binom, chisquare
from torch import Tensor

from mhaug import EgoTerm, MHAug
from mhaug.rng import Streams
from mhaug.sampling import truncated_normal
from mhaug.sampling.chain import Chain, spread_starts
from mhaug.sampling.metropolis import MetropolisHastings, PartKernel
from mhaug.sampling.moves.resample import Resample, uniform_subset
from sampling.enumeration import enumerate_kernel, second_eigenvalue, state_number
from sampling.tiny_graphs import tiny_graph

PASS, FAIL = 1e-4, 1e-12
CHAINS = 250


def new_chain(kernel: MetropolisHastings, graph, seed: int = 0) -> Chain:
    starts = spread_starts(kernel, CHAINS, rng=Streams(seed, "start", count=CHAINS))
    return Chain(graph, kernel, rng=Streams(seed, "chain", count=CHAINS), starts=starts)


def states_of(chain: Chain) -> Tensor:
    """One number a chain for the whole state, in the order of `enumerate_kernel`."""
    number = torch.zeros(CHAINS, dtype=torch.long)
    for part in chain.state.values():
        number = number * 2 ** part.kept.shape[1] + state_number(part.kept)
    return number


def thinning(transition: Tensor) -> int:
    return math.ceil(math.log(1e-4) / math.log(second_eigenvalue(transition)))


def p_value(draws: Tensor, law: Tensor) -> float:
    counts = draws.bincount(minlength=len(law)).double()
    return float(chisquare(counts.numpy(), (law * counts.sum()).numpy()).pvalue)


@dataclass(frozen=True)
class Floored(Resample):
    """A negative control: the count is floored, as in the released code, and weighed as if it were rounded."""

    def draw(self, kept, *, rng):
        units, given = kept.shape[-1], (~kept).sum(-1)
        centre, uniform = given.double() / units, rng.uniform(1).squeeze(-1)
        below, above = (torch.special.ndtr((end - centre) / self.step_size) for end in (0.0, 1.0))
        ratio = centre + self.step_size * torch.special.ndtri(below + uniform * (above - below))
        return uniform_subset(rng.uniform(units), (ratio.clamp(0, 1) * units).floor().long())


@pytest.mark.parametrize("accept", ["joint", "blocks"])
@pytest.mark.parametrize(
    ("name", "nodes"),
    [("triangle-with-tail", None), ("directed", None), ("isolated-node", EgoTerm(strength=0.6, spread_floor=0.4))],
)
def test_long_chains_follow_the_enumerated_law(name, nodes, accept):
    graph = tiny_graph(name)
    kernel = MHAug(edges=EgoTerm(strength=0.4, spread_floor=0.25), nodes=nodes, accept=accept, step_size=0.2).kernel(
        graph
    )
    law, _, transition = enumerate_kernel(kernel, torch.zeros(graph.num_nodes, dtype=torch.float64))
    chain, thin, draws = new_chain(kernel, graph), thinning(transition), []
    for _ in range(1 + 16):
        for _ in range(thin):
            chain.step()
        draws.append(states_of(chain))
    # the first thinned stretch is the warm-up
    assert p_value(torch.cat(draws[1:]), law) > PASS


@pytest.fixture(scope="module")
def control():
    graph = tiny_graph("triangle-with-tail")
    kernel = MHAug(edges=EgoTerm(strength=0.4, spread_floor=0.25), step_size=0.2).kernel(graph)
    enumerated = enumerate_kernel(kernel, torch.zeros(4, dtype=torch.float64))
    return graph, kernel, enumerated.law, thinning(enumerated.transition)


def test_flooring_is_noticed(control):
    graph, kernel, law, thin = control
    floored = MetropolisHastings({"edges": PartKernel(kernel.parts["edges"].target, Floored(0.2))}, joint=False)
    chain, draws = new_chain(floored, graph), []
    for _ in range(1 + 16):
        for _ in range(thin):
            chain.step()
        draws.append(states_of(chain))
    assert p_value(torch.cat(draws[1:]), law) < FAIL


def test_leaving_out_the_repeats_is_noticed(control):
    """Only accepted candidates, as the paper trains on: not the law P, even though each chain is exact."""
    graph, kernel, law, thin = control
    chain, accepted = new_chain(kernel, graph), []
    for step in range(thin * 17):
        moved = chain.step()["edges"].accepted
        if step >= thin and step % 8 == 0:
            accepted.append(states_of(chain)[moved])
    assert p_value(torch.cat(accepted), law) < FAIL


def count_kernel_eigenvalue(units: int, step_size: float, log_weight: Tensor) -> float:
    """The counts alone are a Markov chain: d -> d' with the walk's mass, accepted by the ratio of `log_weight`."""
    counts = torch.arange(units + 1)
    options = {"units": units, "step_size": step_size}
    log_q = truncated_normal.log_mass(counts.unsqueeze(0), given=counts.unsqueeze(1), **options)
    moves = (log_q + (log_weight - log_weight.unsqueeze(1) + log_q.T - log_q).clamp(max=0)).exp()
    transition = moves - torch.diag(moves.diagonal())
    return second_eigenvalue(transition + torch.diag(1 - transition.sum(1)))


@pytest.mark.parametrize("count_weight", [1.0, 0.0])
def test_counts_have_the_law_known_in_closed_form(count_weight):
    """ego_weight 0: the count is uniform on 0..M with count_weight 1, and Binomial(M, 1/2) with 0."""
    from mhaug.data.toy_graphs import path_graph
    from mhaug.sampling.subgraph import UnitGraph

    units, step_size = 400, 0.3 if count_weight else 0.05
    data = path_graph(units + 1)
    graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
    kernel = MHAug(edges=EgoTerm(ego_weight=0.0, count_weight=count_weight), step_size=step_size).kernel(graph)
    counts = torch.arange(units + 1)
    log_law = torch.zeros(units + 1).double() if count_weight else torch.from_numpy(binom.logpmf(counts, units, 0.5))
    thin = math.ceil(math.log(1e-4) / math.log(count_kernel_eigenvalue(units, step_size, log_law)))
    chain, draws = new_chain(kernel, graph), []
    for _ in range(1 + 4):
        for _ in range(thin):
            chain.step()
        draws.append(chain.state["edges"].statistics.dropped)
    # twenty cells of about equal probability under the law
    cells = ((log_law.softmax(0).cumsum(0) - 0.5 * log_law.softmax(0)) * 20).long().clamp(max=19)
    law = torch.zeros(20).double().index_add(0, cells, log_law.softmax(0))
    assert p_value(cells[torch.cat(draws[1:])], law) > PASS
