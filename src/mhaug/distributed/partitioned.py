"""`partitioned_chain`: a sampler, and a graph or a folder of pieces -> a chain in parts. `divide` makes folders."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mhaug import checks
from mhaug.checks import RequestError
from mhaug.distributed.allowed import check_sampler
from mhaug.distributed.division import Division, divided
from mhaug.distributed.folder import Folder, free, open_folder, write
from mhaug.distributed.world import World
from mhaug.sampling.sampler import MHAug
from mhaug.sampling.subgraph import UnitGraph

if TYPE_CHECKING:
    from mhaug.distributed.chain import PartitionedChain

TARGETS = ("edges", "nodes")


def partitioned_chain(
    sampler: MHAug, data: Any, *, parts: int | None = None, seed: int = 0, world: World | None = None
) -> "PartitionedChain":
    """A chain on a graph in so many parts, dealt out to the ranks of `world`.

    `data` has `edge_index` and `num_nodes`; or it is the path of a folder that `divide` has made, which says how many
    parts there are: then no rank reads more than its own pieces. The number of parts decides the chain; the number
    of ranks only its speed.
    """
    check_sampler(sampler)
    world = world or World.alone()
    if not isinstance(data, str | Path):
        return chain_on(sampler, _graph(data), parts=_given(parts), seed=seed, world=world)
    division = _same_everywhere(open_folder(data), world)
    rule = f"{division.facts.parts}, or left out: the folder is divided into so many"
    checks.require(parts in (None, division.facts.parts), "parts", rule, parts)
    return _begin(sampler, division, seed=seed, world=world)


def chain_on(
    sampler: MHAug, graph: UnitGraph, *, parts: int, seed: int = 0, world: World | None = None
) -> "PartitionedChain":
    """The same where the units of the graph are known already. The chain keeps nothing of `graph`."""
    check_sampler(sampler)
    division: Division = divided(graph, parts=parts, hops=sampler.hops, targets=sampler.terms, world=world)
    return _begin(sampler, division, seed=seed, world=world)


def divide(data: Any, folder: str | Path, *, parts: int, hops: int = 2, targets: Sequence[str] = TARGETS) -> Folder:
    """Divide the graph of `data` once, for all chains of so many parts and hops on its edges, its nodes, or both."""
    path = place_for(folder, parts=parts, hops=hops, targets=targets)  # before the long work
    return write(divided(_graph(data), parts=parts, hops=hops, targets=targets), path)


def place_for(folder: str | Path, *, parts: int, hops: int, targets: Sequence[str]) -> Path:
    """Where a division of these words can be put. Refuses what needs no graph to be refused, and makes nothing."""
    checks.whole_number(parts, "parts", 1)
    checks.whole_number(hops, "hops", 1)
    for part in targets:
        checks.one_of(part, "targets", TARGETS)
    checks.require(len(targets) > 0, "targets", "one or both of edges, nodes", targets)
    return free(folder)


def _begin(sampler: MHAug, division: Division, *, seed: int, world: World | None) -> "PartitionedChain":
    try:
        from mhaug.distributed.chain import PartitionedChain
    except ImportError as missing:
        raise RequestError("a chain in parts needs the package numba: pip install numba") from missing
    return PartitionedChain(sampler, division, seed=seed, world=world)


def _graph(data: Any) -> UnitGraph:
    checks.whole_number(int(data.num_nodes or 0), "data.num_nodes", 1)
    rule = "on the CPU for a chain in parts"
    checks.require(data.edge_index.device.type == "cpu", "data", rule, str(data.edge_index.device))
    return UnitGraph.from_edge_index(data.edge_index, data.num_nodes)


def _given(parts: int | None) -> int:
    rule = "given: only a folder says how many there are"
    checks.require(parts is not None, "parts", rule, parts)
    assert parts is not None
    return parts


def _same_everywhere(division: Folder, world: World) -> Folder:
    """Ranks may have folders of their own, with their own pieces only; all must come from one division."""
    name = world.bytes_from_first(division.name.encode()).decode()
    checks.require(name == division.name, "folder", "of the division that rank 0 has", str(division.path))
    return division
