"""The compiled sparse × dense product against the dense one, for every way of cutting rows into vectors."""

import pytest
import torch

from mhaug.backbones import compiled_product, fused
from mhaug.backbones.compiled_product import fits, product
from mhaug.backbones.sparse import Sparse
from mhaug.backbones.structure import Structure, arrange


def random_structure(rows: int, columns: int, entries: int) -> Structure:
    """Repeated places and empty rows among them."""
    rng = torch.Generator().manual_seed(0)
    places = [torch.randint(size, (entries,), generator=rng) for size in (rows, columns)]
    return arrange(*places, (rows, columns))[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [16, 32, 48, 64, 192])
def test_is_the_dense_product(width, dtype):
    structure, rng = random_structure(40, 30, 60), torch.Generator().manual_seed(1)
    values = torch.randn(60, generator=rng, dtype=dtype)
    # columns of a wider matrix: not contiguous
    dense = torch.randn(30, 2 * width, generator=rng, dtype=dtype)[:, :width]
    found = product(structure.pointers, structure.columns, values, dense)
    torch.testing.assert_close(found, Sparse(structure, values).to_dense() @ dense)
    assert (structure.pointers.diff() == 0).any()


def test_by_hand():
    """[[2, 3], [0, 0]] times rows of ones and of tens: 2 · 1 + 3 · 10 = 32."""
    structure, _ = arrange(torch.tensor([0, 0]), torch.tensor([0, 1]), (2, 2))
    dense = torch.tensor([[1.0], [10.0]]).expand(2, 16)
    found = product(structure.pointers, structure.columns, torch.tensor([2.0, 3.0]), dense)
    assert found.tolist() == [[32.0] * 16, [0.0] * 16]


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (3, 3)])
def test_without_entries(rows, columns):
    none = torch.empty(0, dtype=torch.long)
    structure, _ = arrange(none, none, (rows, columns))
    found = product(structure.pointers, structure.columns, torch.empty(0), torch.ones(columns, 16))
    assert torch.equal(found, torch.zeros(rows, 16))


def test_threads_give_the_same_bits(monkeypatch):
    structure, rng = random_structure(50, 50, 400), torch.Generator().manual_seed(2)
    values, dense = torch.randn(400, generator=rng), torch.randn(50, 64, generator=rng)
    arguments = (structure.pointers, structure.columns, values, dense)
    alone = product(*arguments)
    monkeypatch.setattr(compiled_product, "_SHARE", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert len(compiled_product._cuts(structure.pointers.numpy(), 3)) == 4
    assert torch.equal(product(*arguments), alone)


def test_gradients_are_those_of_the_other_product(monkeypatch):
    structure, found = random_structure(20, 20, 80), []
    for compiled in (True, False):
        rng = torch.Generator().manual_seed(3)
        values = torch.randn(80, generator=rng, requires_grad=True)
        dense = torch.randn(20, 32, generator=rng, requires_grad=True)
        monkeypatch.setattr(fused, "multiplies", lambda _, compiled=compiled: compiled)
        (Sparse(structure, values) @ dense).square().sum().backward()
        found.append((values.grad, dense.grad))
    torch.testing.assert_close(*found)


def test_which_products_are_compiled():
    assert [width for width in range(100) if fits(width)] == [16, 32, 48, 64, 80, 96]
    assert fused.multiplies(torch.ones(2, 16))
    assert not fused.multiplies(torch.ones(2, 7))
    assert not fused.multiplies(torch.ones(2, 16, dtype=torch.float16))
