"""What every backbone of the table promises."""

import copy

import pytest
import torch

from backbones.tiny_graphs import FEATURES, example
from mhaug.backbones import BACKBONES, GraphInput, build_backbone
from mhaug.backbones.backbone import Backbone
from mhaug.data.view import View

CLASSES = 3


def build(name: str, seed: int = 0, **options: float) -> Backbone:
    return build_backbone(
        name, FEATURES, CLASSES, hidden=8, rng=torch.Generator().manual_seed(seed), **options
    ).double()


def three_views() -> list[View]:
    view = example().view
    return [View(), view, View(edge_kept=~view.edge_kept)]


@pytest.fixture(params=list(BACKBONES))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def graph() -> GraphInput:
    return example().graph


def test_logits_have_a_row_a_node_and_a_column_a_class(name: str, graph: GraphInput) -> None:
    logits = build(name)(graph)
    assert logits.shape == (5, CLASSES)
    assert logits.isfinite().all()


def test_the_same_seed_gives_the_same_bits(name: str, graph: GraphInput) -> None:
    outputs = []
    for _ in range(2):
        model = build(name, seed=3)
        torch.manual_seed(5)
        outputs.append(model(graph))
    assert torch.equal(*outputs)
    torch.manual_seed(5)
    assert not torch.equal(build(name, seed=4)(graph), outputs[0])


def test_building_with_a_generator_leaves_the_global_one_alone(name: str) -> None:
    before = torch.get_rng_state()
    build(name)
    assert torch.equal(torch.get_rng_state(), before)


def test_reset_draws_what_the_constructor_drew(name: str) -> None:
    model = build(name, seed=3)
    drawn = copy.deepcopy(model.state_dict())
    model.float().reset_parameters(torch.Generator().manual_seed(4))
    assert any(not torch.equal(model.state_dict()[key], drawn[key].float()) for key in drawn)
    model.reset_parameters(torch.Generator().manual_seed(3))
    assert all(torch.equal(model.state_dict()[key], drawn[key].float()) for key in drawn)


def test_views_are_one_call_per_view(name: str, graph: GraphInput) -> None:
    model = build(name).eval()
    together = model.views(graph, three_views())
    for logits, view in zip(together, three_views(), strict=True):
        torch.testing.assert_close(logits, model(graph, view), atol=1e-12, rtol=1e-12)
    assert model.views(graph, []) == []


def test_gradients_of_views_are_those_of_one_call_per_view(name: str, graph: GraphInput) -> None:
    together, apart = build(name).eval(), build(name).eval()
    torch.stack(together.views(graph, three_views())).square().sum().backward()
    sum(apart(graph, view).square().sum() for view in three_views()).backward()
    for left, right in zip(together.parameters(), apart.parameters(), strict=True):
        torch.testing.assert_close(left.grad, right.grad, atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("options", [{}, {"dropout": 0.0, "input_dropout": 0.5}])
def test_dropout_differs_between_views(name: str, graph: GraphInput, options: dict[str, float]) -> None:
    first, second = build(name, **options).views(graph, [View(), View()])
    assert not torch.equal(first, second)


def test_sparse_features_give_the_same_as_dense(name: str) -> None:
    x = torch.zeros(6, 40, dtype=torch.float64)
    x[[0, 1, 3, 5], [2, 2, 39, 0]] = torch.tensor([1.0, -2.0, 0.5, 3.0], dtype=torch.float64)
    sparse = GraphInput.from_data(type("G", (), {"x": x, "edge_index": example().edge_index}), dtype=x.dtype)
    dense = GraphInput(x, sparse.edge_index, sparse.connections)
    assert not isinstance(sparse.features, torch.Tensor)
    grads = []
    for graph in (sparse, dense):
        model = build_backbone(name, 40, CLASSES, hidden=8, rng=torch.Generator().manual_seed(0)).double().eval()
        logits = model(graph, View(node_scale=torch.arange(6.0)))
        logits.square().sum().backward()
        grads.append([logits, *(parameter.grad for parameter in model.parameters())])
    for left, right in zip(*grads, strict=True):
        torch.testing.assert_close(left, right, atol=1e-11, rtol=1e-11)


def test_nothing_handed_in_is_changed(name: str) -> None:
    case = example()
    before = copy.deepcopy(case)
    build(name).views(case.graph, [case.view, View()])
    for left, right in ((case.x, before.x), (case.edge_index, before.edge_index)):
        assert torch.equal(left, right)
    assert torch.equal(case.view.edge_kept, before.view.edge_kept)
    assert torch.equal(case.view.node_scale, before.view.node_scale)


def test_state_dict_round_trip(name: str, graph: GraphInput) -> None:
    saved, loaded = build(name, seed=0).eval(), build(name, seed=1).eval()
    loaded.load_state_dict(saved.state_dict())
    assert torch.equal(saved(graph), loaded(graph))


def test_a_graph_without_edges_and_with_one_node(name: str) -> None:
    data = type("G", (), {"x": torch.ones(1, FEATURES), "edge_index": torch.empty(2, 0, dtype=torch.long)})
    graph = GraphInput.from_data(data, dtype=torch.float64)
    assert build(name).eval()(graph, View(torch.empty(0, dtype=torch.bool))).shape == (1, CLASSES)


def test_a_mask_of_the_wrong_length_is_refused(name: str, graph: GraphInput) -> None:
    with pytest.raises(ValueError, match=r"'edge_kept' must be a tensor of shape \(6,\); got \(4,\)"):
        build(name)(graph, View(torch.ones(4, dtype=torch.bool)))
    with pytest.raises(ValueError, match=r"'node_scale' must be a tensor of shape \(5,\); got \(6,\)"):
        build(name)(graph, View(node_scale=torch.ones(6)))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_gpu_agrees(name: str) -> None:
    case = example()
    results = []
    for device in ("cpu", "cuda"):
        model = build(name).eval().to(device)
        view = View(case.view.edge_kept.to(device), case.view.node_scale.to(device))
        logits = model(case.graph.to(device), view)
        logits.square().sum().backward()
        results.append([logits.cpu(), *(parameter.grad.cpu() for parameter in model.parameters())])
    for left, right in zip(*results, strict=True):
        torch.testing.assert_close(left, right, atol=1e-10, rtol=1e-10)
