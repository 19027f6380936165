"""Writes down what the chains do: numbers of each draw, and how often each unit moved."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mhaug.sampling.chain import Chain
from mhaug.sampling.metropolis import PartTransition
from mhaug.sampling.subgraph import change_ratio
from mhaug.sampling.trace import QUANTITIES, Trace

Step = dict[str, PartTransition]


class Recorder:
    """Fills a trace, one draw at a time. Masks are kept only if asked for; flips are always counted."""

    def __init__(self, chain: Chain, draws: int, *, keep_masks: bool) -> None:
        subgraph = chain.subgraph
        self._chain, self._draw = chain, 0
        self._last = {"edges": subgraph.edge_kept, "nodes": subgraph.node_kept}
        chains, device = subgraph.edge_kept.shape[0], subgraph.edge_kept.device
        self._numbers = {name: torch.zeros(chains, draws, dtype=torch.float64, device=device) for name in QUANTITIES}
        names = ["joint"] if chain.kernel.joint else list(chain.kernel.parts)
        self._accepted = {name: torch.zeros_like(self._numbers["log_prob"]) for name in names}
        self._flips = {name: torch.zeros_like(kept, dtype=torch.long) for name, kept in self._last.items()}
        self._kept = {name: torch.zeros_like(kept, dtype=torch.long) for name, kept in self._last.items()}
        self._masks = {
            name: torch.empty((chains, draws, kept.shape[1]), dtype=torch.bool)
            for name, kept in self._last.items()
            if keep_masks
        }

    def record(self, steps: Sequence[Step], log_prob: Tensor) -> None:
        """Note where the chains stand after `steps`, the transitions since the last draw."""
        draw, subgraph = self._draw, self._chain.subgraph
        for part, kept in (("edges", subgraph.edge_kept), ("nodes", subgraph.node_kept)):
            self._flips[part] += kept != self._last[part]
            self._kept[part] += kept
            self._last[part] = kept
            if part in self._masks:
                self._masks[part][:, draw] = kept.cpu()
            if part in self._chain.state:
                self._numbers[f"{part[:-1]}_change"][:, draw] = change_ratio(kept)
                ego = self._chain.state[part].statistics.ego_change
                self._numbers[f"ego_{part[:-1]}_change"][:, draw] = ego.mean(-1)
        self._numbers["log_prob"][:, draw] = log_prob
        for name, rate in self._accepted.items():
            part = next(iter(steps[0])) if name == "joint" else name
            rate[:, draw] = torch.stack([step[part].accepted for step in steps]).double().mean(0)
        self._draw += 1

    def trace(self, settings: dict[str, Any], *, move: str) -> Trace:
        """The finished trace, on the CPU."""
        numbers = {name: values.cpu() for name, values in self._numbers.items()}
        return Trace(
            **numbers,
            unit_edges=self._chain.graph.unit_edges.cpu(),
            edge_kept=self._masks.get("edges"),
            node_kept=self._masks.get("nodes"),
            edge_flips=self._flips["edges"].cpu(),
            node_flips=self._flips["nodes"].cpu(),
            edge_kept_share=(self._kept["edges"] / self._draw).cpu(),
            node_kept_share=(self._kept["nodes"] / self._draw).cpu(),
            accepted={f"{move}/{name}": rate.cpu() for name, rate in self._accepted.items()},
            settings=settings,
        )
