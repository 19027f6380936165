"""Layers one after another: widths, dropout, the shared first product."""

import pytest
import torch

from backbones.tiny_graphs import example
from mhaug.backbones import GCN
from mhaug.backbones.layer_stack import widths
from mhaug.checks import RequestError
from mhaug.data.view import View


def test_widths() -> None:
    assert widths(10, 64, 3, 1) == [(10, 3)]
    assert widths(10, 64, 3, 3) == [(10, 64), (64, 64), (64, 3)]
    with pytest.raises(RequestError, match="'layers' must be a whole number of at least 1; got 0"):
        widths(10, 64, 3, 0)


@pytest.mark.parametrize(("input_dropout", "products"), [(0.0, 1), (0.5, 3)])
def test_first_products(monkeypatch: pytest.MonkeyPatch, input_dropout: float, products: int) -> None:
    model = GCN(5, 2, input_dropout=input_dropout).double()
    calls = []
    whole = model.layers[0].transform
    monkeypatch.setattr(model.layers[0], "transform", lambda features: calls.append(1) or whole(features))
    model.views(example().graph, [View()] * 3)
    assert len(calls) == products


def test_dropout_of_everything_leaves_the_last_bias() -> None:
    model = GCN(5, 2, dropout=1.0).double()
    torch.nn.init.constant_(model.layers[1].bias, 3.0)
    assert torch.equal(model(example().graph), torch.full((5, 2), 3.0, dtype=torch.float64))
    assert not torch.equal(model.eval()(example().graph), torch.full((5, 2), 3.0, dtype=torch.float64))


@pytest.mark.parametrize("name", ["dropout", "input_dropout"])
def test_rates_lie_between_0_and_1(name: str) -> None:
    with pytest.raises(RequestError, match=rf"'{name}' must be a number in \[0, 1\]; got -0.1"):
        GCN(5, 2, **{name: -0.1})
