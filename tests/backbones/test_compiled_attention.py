"""Compiled attention against the torch code that it stands for; dropout on the shares by its law."""

import subprocess
import sys
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from backbones.tiny_graphs import edges
from mhaug.backbones import fused
from mhaug.backbones.attention import attention_product
from mhaug.backbones.connections import connect
from mhaug.backbones.sparse import Sparse

NODES = 7  # node 6 is isolated, node 5 has one edge, and 0 -> 2 comes twice
EDGE_INDEX = edges((0, 1), (1, 0), (0, 2), (0, 2), (2, 3), (3, 2), (4, 3), (3, 4), (1, 4), (0, 4), (0, 5))


def some_edges(kept: float = 0.6, seed: int = 0) -> Sparse:
    """A view that drops some; a row always keeps its own node, and row 1 keeps nothing else."""
    structure = connect(EDGE_INDEX, NODES).with_self.structure
    mask = torch.rand(structure.num_entries, generator=torch.Generator().manual_seed(seed)) < kept
    own = structure.rows == structure.columns
    return Sparse(structure, (mask & (structure.rows != 1)) | own)


def inputs(heads: int, width: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    rng = torch.Generator().manual_seed(1)
    sizes = ((NODES, heads, width), (heads, width), (heads, width))
    rows, target, source = (torch.randn(size, generator=rng, dtype=torch.float64).to(dtype) for size in sizes)
    return rows.requires_grad_(), target.requires_grad_(), source.requires_grad_()


def outcome(graph: Sparse, parts: tuple[Tensor, ...], rate: float = 0.0, *, average: bool = False) -> list[Tensor]:
    """Values, then gradients of a random weighing of them."""
    rows, *vectors = parts
    mixed = attention_product(graph, rows, (vectors[0], vectors[1]), rate, average=average)
    weigh = torch.randn(mixed.shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64).to(mixed.dtype)
    return [mixed, *torch.autograd.grad((mixed * weigh).sum(), parts)]


def with_torch(monkeypatch: pytest.MonkeyPatch, *arguments: object, **options: bool) -> list[Tensor]:
    """The reference."""
    with monkeypatch.context() as patch:
        patch.setattr(fused, "works_on_cpu", lambda by_head: False)
        return outcome(*arguments, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("heads", "width"), [(1, 1), (1, 5), (3, 2), (8, 7), (8, 8), (8, 17)])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-13), (torch.float32, 2e-5)])
def test_values_and_gradients(monkeypatch, heads, width, dtype, tolerance, average):
    for kept in (0.0, 0.6, 1.0):
        graph, parts = some_edges(kept), inputs(heads, width, dtype)
        mine, reference = (
            outcome(graph, parts, average=average),
            with_torch(monkeypatch, graph, parts, average=average),
        )
        for found, expected in zip(mine, reference, strict=True):
            torch.testing.assert_close(found, expected, rtol=tolerance, atol=tolerance)


def test_a_row_with_one_kept_entry_is_copied():
    graph, (rows, *vectors) = some_edges(), inputs(8, 8)
    mixed = attention_product(graph, rows, (vectors[0], vectors[1]), 0.0, average=False)
    assert torch.equal(mixed[[1, 6]], rows[[1, 6]])  # row 1 keeps itself alone, node 6 is isolated


def test_huge_scores_overflow_nowhere_and_dropped_ones_do_not_matter(monkeypatch):
    graph, (rows, *vectors) = some_edges(), inputs(8, 8)
    rows = (rows.detach() * torch.tensor([1e4, 1.0, 1.0, 1e-4, -1e4, 1.0, 1.0]).view(-1, 1, 1)).requires_grad_()
    parts = (rows, *vectors)
    for found, expected in zip(outcome(graph, parts), with_torch(monkeypatch, graph, parts), strict=True):
        assert found.isfinite().all()
        # terms of 10⁸ cancel in the gradient of the vectors
        torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-7)
    # node 0 sends to 1 by a dropped entry alone: whatever it is, row 1 does not see it
    louder = rows.detach().clone()
    louder[0] *= 1e6
    quiet, loud = (attention_product(graph, h, (vectors[0], vectors[1]), 0.0, average=False) for h in (rows, louder))
    assert torch.equal(quiet[1], loud[1])


def test_a_broken_number_is_seen():
    graph, (rows, *vectors) = some_edges(1.0), inputs(8, 8)
    broken = rows.detach().clone()
    broken[0, 3, 2] = torch.nan
    mixed = attention_product(graph, broken, (vectors[0], vectors[1]), 0.0, average=False)
    assert mixed[2, 3].isnan().all()
    assert mixed[6].isfinite().all()


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("heads", [1, 3, 8])
def test_gradient_under_dropout_has_the_mask_of_the_value(heads, average):
    graph = some_edges()

    def mixed(rows, target, source):
        torch.manual_seed(5)
        return attention_product(graph, rows, (target, source), 0.4, average=average)

    assert torch.autograd.gradcheck(mixed, inputs(heads, 2))


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
def test_dropout_by_its_law(rate):
    """Rows of ones and equal scores: a share of 1/n is kept or not, and the mean of the sum is 1."""
    torch.manual_seed(0)
    heads, degree, draws = 8, 5, 4000
    star = connect(edges(*((node, 0) for node in range(1, degree))), degree).with_self.structure
    graph = Sparse(star, torch.ones(star.num_entries, dtype=torch.bool))
    rows, vector = torch.eye(degree).unsqueeze(1).repeat(1, heads, 1), torch.zeros(heads, degree)
    sums = torch.stack(
        [attention_product(graph, rows, (vector, vector), rate, average=False)[0] for _ in range(draws)]
    )
    shares = sums * degree  # [draws, heads, degree]: 0, or 1 / (1 - rate)
    assert shares.unique().tolist() == [0.0, pytest.approx(1 / (1 - rate), rel=1e-4)]
    # 4,000 draws of each of 40 shares: five standard errors
    error = 5 * (rate / (1 - rate) / draws) ** 0.5
    assert (shares.mean(0) - 1).abs().max() < error
    kept = (shares > 0).flatten(1).float()
    correlation = torch.corrcoef(kept.t()) - torch.eye(heads * degree)
    assert correlation.abs().max() < 5 / draws**0.5
    # nor does one call tell about the next
    assert abs(float(torch.corrcoef(torch.stack([kept[:-1].flatten(), kept[1:].flatten()]))[0, 1])) < 0.02


def test_limits_of_the_rate(monkeypatch):
    graph, parts = some_edges(), inputs(8, 4)
    assert all(not part.any() for part in outcome(graph, parts, 1.0))
    for found, expected in zip(outcome(graph, parts, 1e-9), with_torch(monkeypatch, graph, parts), strict=True):
        torch.testing.assert_close(found, expected)


def test_each_call_takes_one_word_of_the_global_generator():
    graph, parts = some_edges(), inputs(8, 4)
    torch.manual_seed(3)
    first, second = outcome(graph, parts, 0.5), outcome(graph, parts, 0.5)
    after = torch.get_rng_state()
    assert not torch.equal(first[0], second[0])
    torch.manual_seed(3)
    assert all(torch.equal(one, other) for one, other in zip(first, outcome(graph, parts, 0.5), strict=True))
    torch.manual_seed(3)
    torch.empty(2, dtype=torch.int64).random_()
    assert torch.equal(torch.get_rng_state(), after)
    outcome(graph, parts)
    assert torch.equal(torch.get_rng_state(), after)  # without dropout, none


def test_rows_that_do_not_lie_in_order(monkeypatch):
    graph, (rows, target, source) = some_edges(), inputs(3, 2)
    turned = rows.detach().transpose(1, 2).contiguous().transpose(1, 2).requires_grad_()
    pairs = zip(outcome(graph, (turned, target, source)), outcome(graph, (rows, target, source)), strict=True)
    for found, expected in pairs:
        assert torch.equal(found, expected)


def test_who_is_served():
    rows = torch.zeros(4, 2, 3)
    assert fused.works_on_cpu(rows)
    assert not fused.works_on_cpu(rows.bfloat16())
    assert not fused.works_on_cpu(rows.unsqueeze(1))  # replicas
    assert not fused.works_on_cpu(rows.to("meta"))


def test_without_numba_torch_does_it():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import torch; from mhaug.backbones import GAT, GraphInput; from types import SimpleNamespace\n"
        "data = SimpleNamespace(x=torch.ones(3, 4), edge_index=torch.tensor([[0, 1], [1, 2]]))\n"
        "print(GAT(4, 2)(GraphInput.from_data(data)).shape[0])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["3"]


def test_backward_twice_gives_the_same():
    graph, parts = some_edges(), inputs(8, 4)
    mixed = attention_product(graph, parts[0], (parts[1], parts[2]), 0.5, average=True)
    twice = [torch.autograd.grad(mixed.square().sum(), parts, retain_graph=True) for _ in range(3)]
    assert all(torch.equal(a, b) for one, other in pairwise(twice) for a, b in zip(one, other, strict=True))
