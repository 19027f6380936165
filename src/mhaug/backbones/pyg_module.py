"""An adapter that makes a user's own PyG-style module a backbone."""

import inspect
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from mhaug import checks
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.graph_input import GraphInput
from mhaug.data.view import View

_EDGE_INPUTS = ("edge_weight", "edge_attr")


class PyGModule(Backbone):
    """Runs `module(x, edge_index)` on each view, as on an ordinary graph with those edges removed.

    `x` is dense and scaled by the view. `edge_weight` and `edge_attr` are passed, filtered in line, where the
    graph has them and the module's `forward` names them. Its output must be logits [V, C].
    """

    def __init__(self, module: nn.Module, *, num_classes: int | None = None) -> None:
        super().__init__()
        self.module = module
        self.num_classes = num_classes
        names = tuple(inspect.signature(module.forward).parameters)
        rule = "a module with forward(x, edge_index, ...)"
        checks.require(len(names) >= 2, "module", rule, f"forward({', '.join(names)})")
        self.edge_inputs = tuple(name for name in _EDGE_INPUTS if name in names)

    @property
    def hops(self) -> int | None:
        """The hops of all PyG layers in the module, which is too many where they stand side by side."""
        return sum(map(_looks, self.module.modules())) or None

    def shared(self, graph: GraphInput) -> Callable[[View], Tensor]:
        """Logits [V, C] by view: what the module could share between views is not known."""
        return partial(self._logits, graph)

    def reset_parameters(self, rng: torch.Generator | None = None) -> None:
        """Call `reset_parameters()` of the module, or of its parts where it has none itself.

        Such methods draw from torch's global generator; with `rng` it is seeded from there for the while, and put
        back afterwards. Parameters that no such method covers keep their values.
        """
        if rng is None:
            _reset(self.module)
            return
        devices = sorted({p.get_device() for p in self.module.parameters() if p.is_cuda})
        seed = int(torch.randint(2**62, (), generator=rng, device=rng.device))
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(seed)
            _reset(self.module)

    def _logits(self, graph: GraphInput, view: View) -> Tensor:
        x = graph.scaled(graph.dense_features, view)
        edge_index = graph.edge_index
        extras = {name: extra for name in self.edge_inputs if (extra := getattr(graph, name)) is not None}
        if view.edge_kept is not None:
            kept = graph.kept(view)
            rule = "a bool tensor for a user's own module"
            checks.require(kept.dtype == torch.bool, "edge_kept", rule, kept.dtype)
            edge_index = edge_index[:, kept]
            extras = {name: extra[kept] for name, extra in extras.items()}
        return self._checked(self.module(x, edge_index, **extras), graph.num_nodes)

    def _checked(self, logits: object, num_nodes: int) -> Tensor:
        got = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        fits = isinstance(logits, Tensor) and logits.dim() == 2 and logits.shape[0] == num_nodes
        if fits and self.num_classes is not None:
            fits = isinstance(got, tuple) and got[1] == self.num_classes
        classes = "classes" if self.num_classes is None else self.num_classes
        name = f"output of {type(self.module).__name__}"
        checks.require(fits, name, f"a tensor of shape ({num_nodes}, {classes})", got)
        assert isinstance(logits, Tensor)
        return logits


def _looks(part: nn.Module) -> int:
    """How many hops one PyG layer looks: most look one; the others say so in one of these ways."""
    from torch_geometric.nn import MessagePassing

    if not isinstance(part, MessagePassing):
        return 0
    told = [getattr(part, name, 1) for name in ("K", "num_layers")]
    powers, lins = getattr(part, "powers", [1]), getattr(part, "lins", [])
    return max(1, len(lins) - 1, *(int(number) for number in [*told, *powers] if isinstance(number, int)))


def _reset(module: nn.Module) -> None:
    method = getattr(module, "reset_parameters", None)
    if callable(method):
        method()
        return
    for child in module.children():
        _reset(child)
