"""The table of backbones and its errors."""

import pytest

from mhaug.backbones import BACKBONES, backbone_options, build_backbone
from mhaug.checks import RequestError


def test_names() -> None:
    assert list(BACKBONES) == ["gcn", "sage", "gat"]


def test_options_reach_the_network() -> None:
    model = build_backbone("gcn", 10, 3, hidden=16, layers=3, dropout=0.8)
    assert [tuple(layer.weight.shape) for layer in model.layers] == [(10, 16), (16, 16), (16, 3)]
    assert model.dropout == 0.8


def test_an_unknown_name_lists_the_table() -> None:
    with pytest.raises(RequestError, match="'backbone' must be one of gcn, sage, gat; got 'gin'"):
        build_backbone("gin", 10, 3)


def test_an_unknown_option_lists_what_there_is() -> None:
    assert "heads" in backbone_options("gat")
    with pytest.raises(RequestError, match=r"'options of backbone gcn' must be one of hidden, layers.*got 'heads'"):
        build_backbone("gcn", 10, 3, heads=8)
