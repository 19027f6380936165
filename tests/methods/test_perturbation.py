"""Coordinates of a perturbation: what they stand for, and that there are few."""

import pytest
import torch

from methods.problems import planted_task
from methods.wide_problem import wide_task
from mhaug.backbones.catalogue import BACKBONES, build_backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.linear import linear
from mhaug.backbones.replicas import stack_networks
from mhaug.methods.method import Problem
from mhaug.methods.parts.perturbation import Perturbation, orthonormal


def test_orthonormal_columns_span_those_of_the_weights():
    weight = torch.randn(2, 50, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    basis = orthonormal(weight)
    torch.testing.assert_close(basis.mT @ basis, torch.eye(6, dtype=torch.float64).expand(2, 6, 6))
    torch.testing.assert_close(basis @ (basis.mT @ weight), weight)


def test_directions_that_the_weights_lack_are_zero():
    thin = torch.tensor([[3.0, 0.0], [4.0, 0.0], [0.0, 0.0]])
    torch.testing.assert_close(orthonormal(thin), torch.tensor([[0.6, 0.0], [0.8, 0.0], [0.0, 0.0]]))
    assert torch.equal(orthonormal(torch.zeros(3, 2)), torch.zeros(3, 2))


def test_no_rounding_error_blows_up():
    """Trained weights are nearly singular: no direction may come out longer than 1."""
    left, right = (torch.linalg.qr(torch.randn(n, 16)).Q for n in (200, 16))
    weak = left @ torch.diag(torch.logspace(0, -8, 16)) @ right.mT
    lengths = torch.linalg.svdvals(orthonormal(weak))
    assert lengths.max() < 1.01
    assert (lengths > 0.99).sum() >= 5


@pytest.mark.parametrize("space", ["product", "features"])
@pytest.mark.parametrize("backbone", BACKBONES)
def test_coordinates_stand_for_a_perturbation_of_the_features(backbone, space):
    """Logits, length and gradient are those of dense features X + R."""
    graph = GraphInput.from_data(wide_task().graph, dtype=torch.float64)
    network = build_backbone(backbone, 60, 3, hidden=8, dropout=0.0).double().eval()
    perturbation = Perturbation(network, graph, space=space)
    seen = perturbation.seen()
    coordinates = torch.randn(perturbation.shape, dtype=torch.float64)
    assert perturbation.shape == (120, {"features": 60}.get(space, 16 if backbone == "sage" else 8))
    logits = network.from_product(graph, network.first_product(graph.features) + linear(coordinates, seen))
    weight = network.first_product(torch.eye(60, dtype=torch.float64)).detach()
    change = coordinates @ orthonormal(weight).mT if space == "product" else coordinates
    if space == "product":
        torch.testing.assert_close(change.norm(dim=-1), coordinates.norm(dim=-1))
    dense = network(graph.with_features((graph.dense_features + change).requires_grad_()))
    torch.testing.assert_close(logits, dense)
    found, expected = (torch.autograd.grad(one.square().sum(), list(network.parameters())) for one in (logits, dense))
    torch.testing.assert_close(found, expected)


def test_few_features_are_their_own_coordinates():
    problem = Problem.of(planted_task())
    network = build_backbone("gcn", 8, 3, hidden=16)
    assert Perturbation(network, problem.graph, space="product").shape == (120, 8)


def test_replicas_have_coordinates_each():
    graph = Problem.of(wide_task()).graph
    networks = [build_backbone("sage", 60, 3, hidden=8) for _ in range(3)]
    together = Perturbation(stack_networks(networks), graph, space="product")
    assert together.shape == (120, 3, 16)
    for seen, network in zip(together.seen(), networks, strict=True):
        torch.testing.assert_close(seen, Perturbation(network, graph, space="product").seen(), rtol=1e-3, atol=1e-5)
