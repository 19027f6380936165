"""Link prediction: the loss by hand and by enumeration, its gradient, and the memory that it does not take."""

from functools import partial

import pytest
import torch
from torch.nn.functional import softplus

from methods.allocations import LargestTensor
from mhaug.checks import RequestError
from mhaug.methods.parts.pretext import LinkPrediction

uniform = partial(torch.rand, dtype=torch.float64)
PATH = torch.tensor([[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]])  # 0 - 1 - 2, and a self-loop


def test_the_loss_of_a_path_of_three_by_hand():
    """Two links of products 2 and -1, one pair that is none, of product 1, whatever pairs are drawn."""
    rows = torch.tensor([[2.0, 1.0], [1.0, 0.0], [-1.0, 3.0]])
    loss = LinkPrediction(PATH, 3, negatives=50).loss(rows, uniform=uniform)
    log_e = torch.log1p(torch.exp(torch.tensor([-2.0, 1.0, 1.0])))  # -log σ(2), -log σ(-1), -log(1 - σ(1))
    torch.testing.assert_close(loss, 0.5 * ((log_e[0] + log_e[1]) / 2 + log_e[2]))


def test_it_is_the_weighted_loss_over_all_pairs_in_the_mean():
    """Σ over pairs [ω A log A' + (1 - A) log(1 - A')], ω = others / links, over twice the others."""
    generator = torch.Generator().manual_seed(0)
    links = torch.tensor([[0, 0, 1, 3, 4, 2], [1, 2, 2, 4, 5, 6]])
    rows = torch.randn(7, 3, generator=generator, dtype=torch.float64)
    scores = rows @ rows.T
    every = torch.combinations(torch.arange(7)).T
    linked = torch.tensor([pair in links.T.tolist() for pair in every.T.tolist()])
    score, others = scores[every[0], every[1]], (~linked).sum()
    weight = others / linked.sum()
    literal = (weight * softplus(-score) * linked + softplus(score) * ~linked).sum() / (2 * others)
    torch.manual_seed(0)
    sampled = LinkPrediction(links, 7, negatives=20_000).loss(rows, uniform=uniform)
    torch.testing.assert_close(sampled, literal, rtol=0.02, atol=0.0)


def test_rows_of_zeros_cost_log_two():
    loss = LinkPrediction(PATH, 3, negatives=4).loss(torch.zeros(2, 3, 5), uniform=uniform)
    torch.testing.assert_close(loss, torch.full((2,), 2.0).log())


def test_pairs_times_columns_are_never_held():
    generator = torch.Generator().manual_seed(0)
    links = torch.randint(1000, (2, 60_000), generator=generator)
    task = LinkPrediction(links, 1000, negatives=1)
    rows = torch.randn(1000, 64, requires_grad=True)
    with LargestTensor() as largest:
        task.loss(rows, uniform=uniform).backward()
    assert largest.elements <= 2**19 < 60_000 * 64 / 4


def test_a_graph_without_links_is_refused():
    with pytest.raises(RequestError, match="'graph' must be of at least one link"):
        LinkPrediction(torch.tensor([[1], [1]]), 3, negatives=1)
