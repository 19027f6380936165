"""The settings of training in batches."""

from dataclasses import dataclass

from mhaug import checks
from mhaug.backbones.backbone import Backbone
from mhaug.backbones.pyg_module import PyGModule
from mhaug.checks import RequestError
from mhaug.minibatch.neighbours import check_fan_outs

USUAL_FAN_OUT = 10
# updates between two evaluations where nobody says: each is a pass over all nodes, as dear as many batches
EVALUATE_EVERY = 50


@dataclass(frozen=True)
class Batching:
    """How batches are cut. `batch_size=None` trains on the whole graph.

    A batch has at most `batch_size` labelled nodes and, for a loss with terms of all nodes, as many of all.
    `fan_outs` are neighbours a hop, one number a layer, -1 for all: (15, 10), "15,10", or one number for every
    layer. For a module of the user's own a list is taken at its word; one number is for each hop of its PyG layers.
    `batches_per_sample` batches are cut from a sample of the augmenter before it moves on: on a large graph a step of
    the chain costs as much as many batches. With `chain_parts` the ranks of a job move one chain together, of the
    graph in so many parts (`docs/distributed.md`), and a sample's batches are those of all ranks; else each rank has
    a chain and samples of its own.
    """

    batch_size: int | None = None
    fan_outs: tuple[int, ...] | str | int = USUAL_FAN_OUT
    with_replacement: bool = False
    batches_per_sample: int = 1
    chain_parts: int | None = None

    def __post_init__(self) -> None:
        if self.batch_size is not None:
            checks.whole_number(self.batch_size, "batch_size", 1)
        checks.whole_number(self.batches_per_sample, "batches_per_sample", 1)
        if self.chain_parts is not None:
            checks.whole_number(self.chain_parts, "chain_parts", 1)
            rule = "None without 'batch_size': ranks share a chain in batches only"
            checks.require(self.on, "chain_parts", rule, self.chain_parts)
        checks.one_of(self.with_replacement, "with_replacement", (True, False))
        check_fan_outs(_numbers(self.fan_outs))

    @property
    def on(self) -> bool:
        """Whether batches are asked for."""
        return self.batch_size is not None

    def hops(self, network: Backbone) -> tuple[int, ...]:
        """The fan-outs for this network, one a hop."""
        numbers, layers = _numbers(self.fan_outs), network.hops
        if layers is None:
            rule = "a list, one number a hop, for a module without PyG layers to be counted"
            checks.require(not isinstance(self.fan_outs, int), "fan_outs", rule, self.fan_outs)
            return numbers
        if len(numbers) == 1:
            return numbers * layers
        fits = isinstance(network, PyGModule) or len(numbers) == layers
        checks.require(fits, "fan_outs", f"one number for each of the {layers} layers", self.fan_outs)
        return numbers


def _numbers(fan_outs: tuple[int, ...] | list[int] | str | int) -> tuple[int, ...]:
    if isinstance(fan_outs, str):
        try:
            return tuple(int(word) for word in fan_outs.split(","))
        except ValueError as wrong:
            raise RequestError(f"'fan_outs' must be whole numbers like 15,10; got {fan_outs!r}") from wrong
    return tuple(fan_outs) if isinstance(fan_outs, tuple | list) else (fan_outs,)
