"""The moves by name. To add one: a file beside this, and a row here."""

from collections.abc import Callable

from mhaug.sampling.moves.move import Move
from mhaug.sampling.moves.resample import Resample

MOVES: dict[str, Callable[[float], Move]] = {"resample": Resample}
