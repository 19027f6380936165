"""The GPU's kernels against the torch code that they stand for: values and gradients."""

import pytest
import torch

from mhaug.backbones import fused
from mhaug.backbones.attention import attention
from mhaug.backbones.sparse import Sparse
from mhaug.backbones.structure import arrange

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def structure(rows=50, columns=40, entries=300):
    rng = torch.Generator().manual_seed(0)
    loops = torch.arange(rows)  # every row has an entry; one has very many
    at_rows = torch.cat([torch.randint(rows, (entries,), generator=rng), loops, torch.zeros(100, dtype=torch.long)])
    at_columns = torch.cat(
        [torch.randint(columns, (entries,), generator=rng), loops % columns, torch.arange(100) % columns]
    )
    return arrange(at_rows, at_columns, (rows, columns))[0].to("cuda")


def both(monkeypatch, work):
    """The kernels' results, then those of the reference."""
    found = work()
    monkeypatch.setattr(fused, "works_on", lambda tensor: False)
    return found, work()


@pytest.mark.parametrize("copies", [(), (1,), (3,), (5, 8)])
@pytest.mark.parametrize("width", [1, 7, 64, 200])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_spmm(monkeypatch, copies, width, dtype):
    shape = structure()
    values = torch.randn(shape.num_entries, *copies, device="cuda", dtype=dtype, requires_grad=True)
    dense = torch.randn(shape.shape[1], *copies, width, device="cuda", dtype=dtype, requires_grad=True)
    weigh = torch.randn(shape.shape[0], *copies, width, device="cuda", dtype=dtype)

    def work():
        product = Sparse(shape, values).narrow_product(dense)
        return product, *torch.autograd.grad((product * weigh).sum(), (values, dense))

    for mine, theirs in zip(*both(monkeypatch, work), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("replicas", [(), (1,), (10,)])
@pytest.mark.parametrize("heads", [1, 8])
def test_attention(monkeypatch, replicas, heads):
    shape = structure(50, 50)
    target, source = (
        torch.randn(50, *replicas, heads, device="cuda", dtype=torch.float64, requires_grad=True) for _ in range(2)
    )
    kept = torch.rand(shape.num_entries, *replicas, device="cuda") > 0.5
    kept |= (shape.rows == shape.columns).view(-1, *[1] * len(replicas))
    weigh = torch.randn(shape.num_entries, *replicas, heads, device="cuda", dtype=torch.float64)

    def work():
        shares = attention(shape, target, source, kept)
        return shares, *torch.autograd.grad((shares * weigh).sum(), (target, source))

    for mine, theirs in zip(*both(monkeypatch, work), strict=True):
        torch.testing.assert_close(mine, theirs)
    sums = shape.row_sums(attention(shape, target, source, kept))
    torch.testing.assert_close(sums, torch.ones_like(sums))


def test_the_same_bits_every_time():
    shape = structure()
    values, dense = torch.randn(shape.num_entries, 4, device="cuda"), torch.randn(40, 4, 64, device="cuda")
    first = Sparse(shape, values).narrow_product(dense)
    assert all(torch.equal(Sparse(shape, values).narrow_product(dense), first) for _ in range(5))
