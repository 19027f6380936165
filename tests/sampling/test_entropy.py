import pytest
import torch

from mhaug import EgoTerm, MHAug
from mhaug.checks import RequestError
from mhaug.data.toy_graphs import path_graph
from mhaug.sampling.entropy import LastEntropy, check_entropy


def test_news_once_and_after_each_change():
    last, entropy = LastEntropy(2, 3), torch.tensor([0.0, 0.5, 1.0])
    assert last.news(None).tolist() == [[0.0] * 3] * 2
    assert last.news(None) is None
    assert last.news(entropy).tolist() == [[0.0, 0.5, 1.0]] * 2
    assert last.news(entropy) is None
    entropy[1] = 0.25
    assert last.news(entropy).tolist() == [[0.0, 0.25, 1.0]] * 2
    # another tensor with the same numbers is not looked into
    assert last.news(entropy.clone()).dtype == torch.float64
    each = torch.tensor([[0.0, 0.1, 0.2], [0.3, 0.4, 0.5]], dtype=torch.float64)
    assert last.news(each).equal(each)


@pytest.mark.parametrize(
    ("entropy", "words"),
    [
        (torch.zeros(4), r"'entropy' must be a tensor of shape \(3,\); got \(4,\)"),
        (torch.zeros(1, 3), r"'entropy' must be a tensor of shape \(2, 3\); got \(1, 3\)"),
        (torch.zeros(1, 2, 3), r"'entropy' must be a tensor of shape \(2, 3\); got \(1, 2, 3\)"),
        (torch.tensor([0.0, -0.5, 1.0]), r"'entropy' must be in \[0, 1\] everywhere; got '-0.5 to 1'"),
    ],
)
def test_what_is_no_entropy_is_refused_each_time(entropy, words):
    last = LastEntropy(2, 3)
    for _ in range(2):
        with pytest.raises(RequestError, match=words):
            last.news(entropy)


@pytest.mark.parametrize("backend", ["torch", "numba"])
def test_both_backends_refuse_what_is_no_entropy(backend):
    chain = MHAug(edges=EgoTerm(), backend=backend).chain(path_graph(7), chains=2)
    with pytest.raises(RequestError, match=r"'entropy' must be a tensor of shape \(7,\); got \(2,\)"):
        chain.step(torch.zeros(2))
    with pytest.raises(RequestError, match=r"'entropy' must be in \[0, 1\] everywhere; got '2 to 2'"):
        chain.step(torch.full((2, 7), 2.0))


def test_nan_is_for_training_alone():
    """A chain takes it, and moves nowhere; a sample, which no training waits behind, does not begin."""
    broken = torch.tensor([0.0, torch.nan, 1.0])
    assert LastEntropy(1, 3).news(broken).isnan().tolist() == [[False, True, False]]
    with pytest.raises(RequestError, match=r"'entropy' must be in \[0, 1\] everywhere; got 'nan to nan'"):
        check_entropy(broken, 3)
    for moves in ("mixture", "resample"):
        chain = MHAug(edges=EgoTerm(spread_floor=1.0), moves=moves, hops=1).chain(path_graph(7))
        report = chain.step(torch.full((7,), torch.nan), rounds=20)
        assert not report.moved.any()
        assert bool(chain.kept("edges").all())
        assert chain.step(torch.zeros(7), rounds=20).moved.all()
