"""Graph auto-encoders: codes Z of the nodes whose products z_u · z_v score the pairs as edges."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from mhaug import rng
from mhaug.backbones.features import Features
from mhaug.backbones.graph_input import GraphInput
from mhaug.backbones.initialisation import glorot
from mhaug.backbones.linear import linear
from mhaug.backbones.propagation import symmetric_average
from mhaug.backbones.sparse import Sparse
from mhaug.methods.parts.known_pairs import KnownPairs
from mhaug.methods.parts.reconstruction import Reconstruction
from mhaug.objectives.non_finite import NonFiniteLossError, not_finite


def scaled_features(graph: GraphInput) -> Features:
    """X times one number, so that its non-zero values have a root mean square of 1; made once a graph.

    Rows that sum to one, which suit the classifiers, are so small that an encoder with Glorot weights would need
    ten times as many updates.
    """

    def make() -> Features:
        features = graph.features
        values = features.values if isinstance(features, Sparse) else features
        size = (values.square().sum() / values.count_nonzero().clamp(min=1)).sqrt().clamp(min=1e-30)
        return features.with_values(values / size) if isinstance(features, Sparse) else values / size

    return graph.remembered("scaled features", make)


class EdgePredictor(nn.Module):
    """Z = ReLU(Â Â X W0 W1), the plain auto-encoder of GAug-O. Its scores are never negative."""

    def __init__(self, in_features: int, *, hidden: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = nn.Parameter(torch.empty(in_features, hidden))
        self.second = nn.Parameter(torch.empty(hidden, width))
        for parameter in (self.first, self.second):
            glorot(parameter, generator)

    def forward(self, graph: GraphInput) -> Tensor:
        """Codes [V, width]."""
        adjacency = symmetric_average(graph)
        # nothing stands between the layers, so the narrow product W0 W1 comes first
        return (adjacency @ (adjacency @ linear(graph.features, self.first @ self.second))).relu()


class VariationalEncoder(nn.Module):
    """H = ELU(Â X W0), μ = Â H W_μ, log σ = Â H W_σ (Kipf and Welling 2016), the auto-encoder of GAug-M."""

    def __init__(self, in_features: int, *, hidden: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = nn.Parameter(torch.empty(in_features, hidden))
        self.mean = nn.Parameter(torch.empty(hidden, width))
        self.log_spread = nn.Parameter(torch.empty(hidden, width))
        for parameter in (self.first, self.mean, self.log_spread):
            glorot(parameter, generator)

    def forward(self, graph: GraphInput) -> tuple[Tensor, Tensor]:
        """μ and log σ, [V, width] each."""
        adjacency = symmetric_average(graph)
        hidden = adjacency @ F.elu(adjacency @ linear(scaled_features(graph), self.first))
        return hidden @ self.mean, hidden @ self.log_spread


def divergence(mean: Tensor, log_spread: Tensor) -> Tensor:
    """KL = -(1 / 2V) mean_i Σ_d (1 + 2 log σ - μ² - σ²), scaled down by V as in the released code of GAug."""
    gap = 1.0 + 2.0 * log_spread - mean.square() - (2.0 * log_spread).exp()
    return -0.5 / mean.shape[0] * gap.sum(1).mean()


def train_apart(
    model: nn.Module, terms: Callable[[], dict[str, Tensor]], *, name: str, epochs: int, learning_rate: float
) -> None:
    """So many updates of the sum of these terms with an Adam of their own, before the run begins."""
    # fused: the other forms fail on steps beyond the range of single precision
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate, fused=True)
    for epoch in range(1, epochs + 1):
        optimiser.zero_grad()
        losses = terms()
        trouble = not_finite({term: float(loss.detach()) for term, loss in losses.items()})
        if trouble is not None:
            raise NonFiniteLossError(f"training of the {name} stopped at step {epoch}: {trouble}")
        torch.stack(list(losses.values())).sum().backward()
        optimiser.step()
    optimiser.zero_grad()


def variational_codes(
    graph: GraphInput, known: KnownPairs, *, hidden: int, width: int, epochs: int, learning_rate: float, seed: int
) -> Tensor:
    """One draw Z = μ + σ ε of a variational auto-encoder that was trained on the whole graph; `seed` decides it."""
    device = graph.edge_index.device
    noise = rng.stream(seed, "auto-encoder noise", device=device)
    weights = rng.stream(seed, "auto-encoder weights")
    model = VariationalEncoder(graph.num_features, hidden=hidden, width=width, generator=weights).to(device)
    reconstruction = Reconstruction(known)

    def draw(mean: Tensor, log_spread: Tensor) -> Tensor:
        return mean + log_spread.exp() * torch.randn(mean.shape, generator=noise, device=device, dtype=mean.dtype)

    def uniform(size: int) -> Tensor:
        return torch.rand(size, generator=noise, device=device, dtype=torch.float64)

    def terms() -> dict[str, Tensor]:
        mean, log_spread = model(graph)
        cost = reconstruction(draw(mean, log_spread), uniform=uniform)
        return {"reconstruction": cost, "divergence": divergence(mean, log_spread)}

    train_apart(model, terms, name="auto-encoder", epochs=epochs, learning_rate=learning_rate)
    with torch.no_grad():
        codes = draw(*model(graph))
    if not bool(codes.isfinite().all()):
        raise NonFiniteLossError(f"training of the auto-encoder ended at step {epochs}: the codes are not finite")
    return codes
