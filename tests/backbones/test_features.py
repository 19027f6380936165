"""Features stay sparse when sparse, whichever way they arrive."""

import pytest
import torch

from mhaug.backbones.features import as_features, drop_features
from mhaug.backbones.sparse import Sparse, spend_warnings
from mhaug.checks import RequestError


@pytest.fixture
def x() -> torch.Tensor:
    x = torch.zeros(4, 20)
    x[[0, 2, 2], [3, 3, 19]] = torch.tensor([1.0, 2.0, -1.0])
    return x


@pytest.mark.parametrize("layout", ["to_dense", "to_sparse_csr", "to_sparse_coo", "to_sparse_csc"])
def test_any_layout_of_few_values_becomes_sparse(x: torch.Tensor, layout: str) -> None:
    spend_warnings()
    features = as_features(getattr(x, layout)())
    assert isinstance(features, Sparse)
    assert features.shape == (4, 20)
    assert torch.equal(features.to_dense(), x)


@pytest.mark.parametrize("layout", ["to_dense", "to_sparse_csr"])
def test_any_layout_of_many_values_becomes_dense(layout: str) -> None:
    spend_warnings()
    features = as_features(getattr(torch.eye(4), layout)())
    assert isinstance(features, torch.Tensor)
    assert torch.equal(features, torch.eye(4))


def test_features_that_want_a_gradient_stay_dense(x: torch.Tensor) -> None:
    assert as_features(x.requires_grad_()) is x


def test_sparse_values_are_checked_too(x: torch.Tensor) -> None:
    x[0, 0] = torch.inf
    spend_warnings()
    with pytest.raises(RequestError, match="'x' must be finite everywhere; got '1 values"):
        as_features(x.to_sparse_csr())


def test_dropout_touches_stored_values_alone(x: torch.Tensor) -> None:
    torch.manual_seed(0)
    dropped = [drop_features(as_features(x), 0.5).to_dense() for _ in range(50)]
    assert all(set((rows / x).nan_to_num().unique().tolist()) <= {0.0, 2.0} for rows in dropped)
    assert torch.equal(as_features(x).to_dense(), x)
    assert torch.stack(dropped).count_nonzero(0)[x == 0].sum() == 0
