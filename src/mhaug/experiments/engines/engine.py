"""What an engine is, and the one unit of work that crosses a process border."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from mhaug.checks import one_line
from mhaug.experiments.record import RunRecord
from mhaug.experiments.spec import RunSpec
from mhaug.experiments.store import Failure

Outcome = RunRecord | Failure


class Engine(Protocol):
    """Gets through runs in any order, and gives each outcome as it comes; knows nothing of stores."""

    def run(self, specs: Sequence[RunSpec]) -> Iterator[Outcome]:
        """One outcome for each spec. A run that fails does not stop the others."""
        ...


@dataclass(frozen=True)
class Work:
    """How one run is done, as something that can be sent to another process."""

    data_dir: str | None = None
    device: str = "cpu"
    threads: int = 1

    def __call__(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Spec in, record out, both as plain JSON."""
        import torch

        from mhaug.experiments.run import run

        torch.set_num_threads(self.threads)
        return run(RunSpec.from_json(spec), data_dir=self.data_dir, device=self.device).to_json()


Doing = Callable[[dict[str, Any]], dict[str, Any]]
Answer = tuple[Literal["record", "error"], Any]


def answer(work: Doing, spec: dict[str, Any]) -> Answer:
    """The worker's side: what goes wrong inside a run is an answer too, and the worker outlives it."""
    try:
        return "record", work(spec)
    except Exception as error:
        return "error", words_of(error)


def outcome(spec: RunSpec, said: Answer) -> Outcome:
    """The driver's side of `answer`."""
    kind, words = said
    return RunRecord.from_json(words) if kind == "record" else Failure(spec, words)


def words_of(error: BaseException) -> str:
    """An error in one line."""
    return f"{type(error).__name__}: {one_line(str(error))}"
