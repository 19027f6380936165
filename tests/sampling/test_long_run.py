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
from mhaug.data.toy_graphs import path_graph
from mhaug.sampling import truncated_normal
from mhaug.sampling.backends import new_chain
from mhaug.sampling.chain import Chain
from mhaug.sampling.metropolis import PartKernel
from mhaug.sampling.moves.resample import Resample, uniform_subset
from mhaug.sampling.subgraph import UnitGraph
from mhaug.sampling.torch_chain import TorchChain
from sampling.enumeration import enumerate_step, second_eigenvalue, state_number
from sampling.tiny_graphs import tiny_graph

PASS, FAIL = 1e-4, 1e-12
CHAINS = 250
# local rounds go chain by chain: fewer chains and draws
FEW = 10


def states_of(chain: Chain) -> Tensor:
    """One number a chain for the whole state, in the order of `enumerate_step`."""
    number = torch.zeros(chain.setup.chains, dtype=torch.long)
    for part in chain.setup.targets:
        kept = chain.kept(part)
        number = number * 2 ** kept.shape[1] + state_number(kept)
    return number


def thinning(transition: Tensor) -> int:
    return math.ceil(math.log(1e-4) / math.log(second_eigenvalue(transition)))


def thinned(chain: Chain, thin: int, draws: int) -> Tensor:
    """States at every `thin`-th step; the first stretch is the warm-up."""
    states = []
    for _ in range(1 + draws // chain.setup.chains):
        for _ in range(thin):
            chain.step()
        states.append(states_of(chain))
    return torch.cat(states[1:])


def p_value(draws: Tensor, law: Tensor) -> float:
    counts = draws.bincount(minlength=len(law)).double()
    return float(chisquare(counts.numpy(), (law * counts.sum()).numpy()).pvalue)


@dataclass(frozen=True)
class Floored(Resample):
    """A negative control: the count is floored, as in the released code, and weighed as if it were rounded."""

    def propose(self, kept, uniforms):
        units, given = kept.shape[-1], (~kept).sum(-1)
        centre = given.double() / units
        below, above = (torch.special.ndtr((end - centre) / self.step_size) for end in (0.0, 1.0))
        ratio = centre + self.step_size * torch.special.ndtri(below + uniforms[..., 0] * (above - below))
        return uniform_subset(uniforms[..., 1:], (ratio.clamp(0, 1) * units).floor().long())


def setup_of(name: str, chains: int = CHAINS, **options):
    sampler = MHAug(**{"edges": EgoTerm(strength=0.4, spread_floor=0.25), "step_size": 0.2, **options})
    return sampler.setup(tiny_graph(name), chains=chains)


CASES = [
    ("triangle-with-tail", None),
    ("directed", None),
    ("self-loop-and-repeat", None),
    ("isolated-node", EgoTerm(strength=0.6, spread_floor=0.4)),
]


@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize(
    ("accept", "moves"), [("joint", "resample"), ("blocks", "resample"), ("blocks", "flip"), ("blocks", "mixture")]
)
@pytest.mark.parametrize(("name", "nodes"), CASES)
def test_long_chains_follow_the_enumerated_law(name, nodes, accept, moves, backend):
    local = moves != "resample" or backend == "numba"
    setup = setup_of(name, FEW if local else CHAINS, nodes=nodes, accept=accept, moves=moves)
    law, transition = enumerate_step(setup, torch.zeros(setup.graph.num_nodes, dtype=torch.float64))
    chain = new_chain(setup, backend=backend, seed=0)
    few = 300 if backend == "torch" else 1200
    draws = thinned(chain, thinning(transition), few if local else 4000)
    assert p_value(draws, law) > PASS


@pytest.fixture(scope="module")
def control():
    setup = setup_of("triangle-with-tail", moves="resample")
    law, transition = enumerate_step(setup, torch.zeros(4, dtype=torch.float64))
    return setup, law, thinning(transition)


def test_flooring_is_noticed(control):
    setup, law, thin = control
    chain = TorchChain(setup, seed=0)
    chain.kernels["edges"][0] = PartKernel(setup.targets["edges"], Floored(0.2))
    assert p_value(thinned(chain, thin, 4000), law) < FAIL


def test_leaving_out_the_repeats_is_noticed(control):
    """Only accepted candidates, as the paper trains on: not the law P, even though each chain is exact."""
    setup, law, thin = control
    chain, accepted = TorchChain(setup, seed=0), []
    for step in range(thin * 17):
        moved = torch.from_numpy(chain.step().moved)
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


@pytest.mark.parametrize("backend", ["torch", "numba"])
@pytest.mark.parametrize("count_weight", [1.0, 0.0])
def test_counts_have_the_law_known_in_closed_form(count_weight, backend):
    """ego_weight 0: the count is uniform on 0..M with count_weight 1, and Binomial(M, 1/2) with 0."""
    units, step_size = 400, 0.3 if count_weight else 0.05
    data = path_graph(units + 1)
    graph = UnitGraph.from_edge_index(data.edge_index, data.num_nodes)
    term = EgoTerm(ego_weight=0.0, count_weight=count_weight)
    setup = MHAug(edges=term, step_size=step_size, moves="resample").setup(graph, chains=CHAINS)
    counts = torch.arange(units + 1)
    log_law = torch.zeros(units + 1).double() if count_weight else torch.from_numpy(binom.logpmf(counts, units, 0.5))
    thin = math.ceil(math.log(1e-4) / math.log(count_kernel_eigenvalue(units, step_size, log_law)))
    chain, draws = new_chain(setup, backend=backend, seed=0), []
    for _ in range(1 + 4):
        for _ in range(thin):
            chain.step()
        draws.append((chain.change("edges").full * units).round().long())
    # twenty cells of about equal probability under the law
    cells = ((log_law.softmax(0).cumsum(0) - 0.5 * log_law.softmax(0)) * 20).long().clamp(max=19)
    law = torch.zeros(20).double().index_add(0, cells, log_law.softmax(0))
    assert p_value(cells[torch.cat(draws[1:])], law) > PASS


def test_flips_and_swaps_have_the_closed_form_law_too():
    """Independent units: ego_weight and count_weight 0 make each unit a fair coin, whatever the move."""
    setup = setup_of("directed", FEW, edges=EgoTerm(ego_weight=0.0, count_weight=0.0), moves="mixture")
    chain = new_chain(setup, backend="numba", seed=3)
    assert p_value(thinned(chain, 40, 2000), torch.full((32,), 1 / 32).double()) > PASS
