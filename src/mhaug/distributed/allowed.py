"""Which samplers a chain in parts can stand for. Known without numba, which the chain itself needs."""

from mhaug import checks
from mhaug.sampling.sampler import MHAug

MOVES = ("mixture", "flip", "resample")


def check_sampler(sampler: MHAug) -> None:
    """Refuse what a chain in parts cannot do."""
    rule = "one of " + ", ".join(MOVES) + " for a chain in parts (swaps alone would keep the count of each part)"
    checks.require(sampler.moves in MOVES, "moves", rule, sampler.moves)
    checks.require(sampler.accept == "blocks", "accept", "'blocks' for a chain in parts", sampler.accept)
    alike = not sampler.outline(0, 0, {}).per_chain
    checks.require(alike, "sampler", "of plain numbers for a chain in parts, which is a single one", sampler)
    checks.require(sampler.extra is None, "extra", "None for a chain in parts", sampler.extra)
