"""Sparse products against the dense matrix, with gradients in both arguments."""

import warnings

import pytest
import torch

from mhaug.backbones import sparse
from mhaug.backbones.features import as_features
from mhaug.backbones.linear import linear
from mhaug.backbones.sparse import Sparse
from mhaug.backbones.structure import Structure, arrange

# [[0, a, b], [c, 0, 0], [0, 0, 0], [0, d + e, 0]]: a repeated pair, an empty row, not square
ROWS, COLUMNS = torch.tensor([3, 0, 1, 0, 3]), torch.tensor([1, 2, 0, 1, 1])


@pytest.fixture
def structure() -> Structure:
    return arrange(ROWS, COLUMNS, (4, 3))[0]


def test_a_product_by_hand(structure: Structure) -> None:
    values = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    dense = torch.tensor([[1.0, 0.0], [10.0, 1.0], [100.0, 2.0]])
    expected = torch.tensor([[210.0, 5.0], [3.0, 0.0], [0.0, 0.0], [90.0, 9.0]])
    assert torch.equal(Sparse(structure, values) @ dense, expected)


@pytest.mark.parametrize("width", [1, 2])
def test_gradcheck_in_both_arguments(structure: Structure, width: int) -> None:
    rng = torch.Generator().manual_seed(0)
    values = torch.randn(5, generator=rng, dtype=torch.float64, requires_grad=True)
    dense = torch.randn(3, width, generator=rng, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda v, d: Sparse(structure, v) @ d, (values, dense))


@pytest.mark.parametrize("copies", [(2,), (3, 2)])
def test_copies_are_products_side_by_side(structure: Structure, copies: tuple[int, ...]) -> None:
    rng = torch.Generator().manual_seed(0)
    values = torch.randn(5, *copies, generator=rng, dtype=torch.float64, requires_grad=True)
    dense = torch.randn(3, *copies, 4, generator=rng, dtype=torch.float64, requires_grad=True)
    product = Sparse(structure, values) @ dense
    for index in torch.cartesian_prod(*map(torch.arange, copies)).view(-1, len(copies)).tolist():
        at = (slice(None), *index)
        torch.testing.assert_close(product[at], Sparse(structure, values[at]) @ dense[at])
    assert torch.autograd.gradcheck(lambda v, d: Sparse(structure, v) @ d, (values, dense))


def test_the_plain_sampled_product_agrees_with_mkl(structure: Structure, monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = torch.arange(8.0).view(4, 2), torch.arange(6.0).view(3, 2)
    fast = sparse._sampled_product(structure, left, right)
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: False)
    plain = sparse._sampled_product(structure, left, right)
    assert torch.equal(plain, (left @ right.t())[structure.rows, structure.columns])
    assert torch.equal(fast, plain)


def test_linear_is_the_same_for_dense_and_sparse_features() -> None:
    x = torch.zeros(4, 20)
    x[[0, 2, 2], [3, 3, 19]] = torch.tensor([1.0, 2.0, -1.0])
    weights = [torch.arange(40.0).view(20, 2).requires_grad_() for _ in range(2)]
    thin, full = linear(as_features(x), weights[0]), linear(x, weights[1])
    assert torch.equal(thin, full)
    thin.square().sum().backward()
    full.square().sum().backward()
    assert torch.equal(weights[0].grad, weights[1].grad)


def test_torch_warnings_about_csr_are_unseen(structure: Structure) -> None:
    sparse.spend_warnings.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Sparse(structure, torch.ones(5)) @ torch.ones(3, 1)
