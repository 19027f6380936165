"""ε of a chain in parts: read anew where it has changed, and refused where it is none."""

import pytest
import torch

from mhaug import EgoTerm, MHAug
from mhaug.checks import RequestError
from mhaug.data.toy_graphs import path_graph
from mhaug.distributed.partitioned import partitioned_chain


@pytest.mark.parametrize("in_place", [False, True])
def test_log_p_is_that_of_the_entropies_given_now(in_place):
    """Another tensor, or the same one with other numbers in it."""
    graph = path_graph(7)
    sampler = MHAug(edges=EgoTerm(strength=0.4, spread_slope=0.8, spread_floor=0.2), hops=1)
    chain = partitioned_chain(sampler, graph, parts=2)
    whole = sampler.chain(graph, chains=1)
    first = torch.linspace(0.1, 0.9, 7, dtype=torch.float64)
    chain.step(first, rounds=3)
    before = float(chain.log_prob(first))
    second = first.mul_(0.5) if in_place else first * 0.5
    whole.place({"edges": chain.kept("edges")})
    assert float(chain.log_prob(second)) == pytest.approx(float(whole.log_prob(second)), abs=1e-9)
    assert abs(float(chain.log_prob(second)) - before) > 1e-3


def test_entropies_in_either_shape_and_none_that_are_wrong():
    chain = partitioned_chain(
        MHAug(edges=EgoTerm(spread_slope=0.8, spread_floor=0.2), hops=1), path_graph(7), parts=2
    )
    entropy = torch.linspace(0.1, 0.9, 7)
    chain.step(entropy, rounds=3)
    assert float(chain.log_prob(entropy.unsqueeze(0))) == float(chain.log_prob(entropy)) != float(chain.log_prob())
    for wrong, words in (
        (torch.zeros(6), r"'entropy' must be a tensor of shape \(7,\); got \(6,\)"),
        (torch.zeros(2, 7), r"'entropy' must be a tensor of shape \(1, 7\); got \(2, 7\)"),
        (entropy * 2, r"'entropy' must be in \[0, 1\] everywhere; got '0.2 to 1.8'"),
    ):
        for ask in (chain.step, chain.log_prob):
            with pytest.raises(RequestError, match=words):
                ask(wrong)
    # that of a broken network: nothing moves, and training sees its loss
    before = chain.kept("edges")
    assert not chain.step(torch.full((7,), torch.nan), rounds=20).moved.any()
    assert torch.equal(chain.kept("edges"), before)
    assert chain.step(entropy, rounds=20).moved.all()
