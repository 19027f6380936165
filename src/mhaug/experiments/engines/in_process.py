"""Runs in this very process: on a GPU in batches, on a CPU one after another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from mhaug.experiments.batch import batches, run_many, usual_limit
from mhaug.experiments.engines.engine import Outcome, words_of
from mhaug.experiments.spec import RunSpec
from mhaug.experiments.store import Failure


@dataclass(frozen=True)
class InProcess:
    """`limit` runs at most side by side; None: what suits the device. `threads` of the CPU; None: as they are."""

    data_dir: str | None = None
    device: str = "cpu"
    limit: int | None = None
    threads: int | None = None

    def run(self, specs: Sequence[RunSpec]) -> Iterator[Outcome]:
        """Batch by batch."""
        if self.threads is not None:
            torch.set_num_threads(self.threads)
        for group in batches(specs, limit=self.limit or usual_limit(self.device)):
            yield from self._batch(group)

    def _batch(self, group: list[RunSpec]) -> Iterator[Outcome]:
        done = set()
        try:
            for spec, outcome in run_many(group, data_dir=self.data_dir, device=self.device, limit=len(group)):
                done.add(spec)
                yield Failure(spec, words_of(outcome)) if isinstance(outcome, Exception) else outcome
        # whatever one run does must not stop the sweep
        except Exception as error:
            left = [spec for spec in group if spec not in done]
            if len(group) == 1:
                yield Failure(group[0], words_of(error))
                return
            # one of them spoilt it for all: each gets a chance of its own
            for spec in left:
                yield from self._batch([spec])
