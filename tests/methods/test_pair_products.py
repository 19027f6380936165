"""Products of pairs, in pieces."""

import torch

from mhaug.methods.parts import pair_products as pair_products_file
from mhaug.methods.parts.pair_products import pair_products


def test_products_and_their_gradient_piece_by_piece(monkeypatch):
    monkeypatch.setitem(pair_products_file._PIECE, "cpu", 12)
    rows = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    pairs = torch.tensor([[0, 1, 4, 2, 2, 0, 3], [1, 0, 4, 3, 3, 4, 0]])
    products = pair_products(rows, pairs)
    torch.testing.assert_close(products, (rows[pairs[0]] * rows[pairs[1]]).sum(-1))
    assert torch.autograd.gradcheck(lambda each: pair_products(each, pairs), (rows,))
