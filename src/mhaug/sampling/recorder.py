"""Writes down what the chains do: numbers of each draw, and how often each unit moved."""

from typing import Any

import torch
from torch import Tensor

from mhaug.sampling.chain import Chain, StepReport
from mhaug.sampling.diagnostics import describe
from mhaug.sampling.trace import QUANTITIES, Trace


class Recorder:
    """Fills a trace, one draw at a time. Masks are kept only if asked for; flips are always counted."""

    def __init__(self, chain: Chain, draws: int, *, keep_masks: bool) -> None:
        self._chain, self._draw = chain, 0
        chains = chain.setup.chains
        self._numbers = {name: torch.zeros(chains, draws, dtype=torch.float64) for name in QUANTITIES}
        self._proposed: dict[str, Tensor] = {}
        self._accepted: dict[str, Tensor] = {}
        # a part that is never dropped stays whole, and needs no book-keeping
        self._last = {part: chain.kept(part) for part in chain.setup.targets}
        self._flips = {part: torch.zeros_like(kept, dtype=torch.long) for part, kept in self._last.items()}
        self._kept = {part: torch.zeros_like(kept, dtype=torch.long) for part, kept in self._last.items()}
        self._masks = {
            part: torch.ones(chains, draws if keep_masks else 0, units, dtype=torch.bool)
            for part, units in (("edges", chain.graph.num_units), ("nodes", chain.graph.num_nodes))
        }

    def record(self, step: StepReport, log_prob: Tensor) -> None:
        """Note where the chains stand after `step`, the rounds since the last draw."""
        draw = self._draw
        for part in self._last:
            kept = self._chain.kept(part)
            self._flips[part] += kept != self._last[part]
            self._kept[part] += kept
            self._last[part] = kept
            if draw < self._masks[part].shape[1]:
                self._masks[part][:, draw] = kept.cpu()
            change = self._chain.change(part)
            self._numbers[f"{part[:-1]}_change"][:, draw] = change.full.cpu()
            self._numbers[f"ego_{part[:-1]}_change"][:, draw] = change.ego.cpu()
            self._numbers[f"ego_{part[:-1]}_spread"][:, draw] = change.spread.cpu()
        self._numbers["log_prob"][:, draw] = log_prob.cpu()
        for outcome, record in enumerate((self._proposed, self._accepted)):
            for name, counts in step.counts(outcome).items():
                if name not in record:
                    record[name] = torch.zeros_like(self._numbers["log_prob"], dtype=torch.long)
                record[name][:, draw] = torch.from_numpy(counts)
        self._draw += 1

    def fewest_effective(self) -> float:
        """The smallest effective sample size of the numbers recorded so far."""
        names = ["log_prob", *(f"ego_{part[:-1]}_change" for part in self._last)]
        return min(describe(self._numbers[name][:, : self._draw].numpy()).ess_bulk for name in names)

    def trace(self, settings: dict[str, Any]) -> Trace:
        """The finished trace, on the CPU."""
        chain, chains = self._chain, self._chain.setup.chains
        still = {"edges": chain.graph.num_units, "nodes": chain.graph.num_nodes}
        flips = {part: self._flips.get(part, torch.zeros(chains, units).long()) for part, units in still.items()}
        shares = {
            part: self._kept[part] / self._draw if part in self._kept else torch.ones(chains, units)
            for part, units in still.items()
        }
        masks = {part: mask[:, : self._draw] if mask.shape[1] else None for part, mask in self._masks.items()}
        return Trace(
            **{name: values[:, : self._draw] for name, values in self._numbers.items()},
            unit_edges=chain.graph.unit_edges.cpu(),
            edge_kept=masks["edges"],
            node_kept=masks["nodes"],
            edge_flips=flips["edges"].cpu(),
            node_flips=flips["nodes"].cpu(),
            edge_kept_share=shares["edges"].float().cpu(),
            node_kept_share=shares["nodes"].float().cpu(),
            proposed={name: row[:, : self._draw] for name, row in self._proposed.items()},
            accepted={name: row[:, : self._draw] for name, row in self._accepted.items()},
            settings=settings,
        )
