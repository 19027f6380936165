"""When a run is saved: every so many updates, and by the clock where updates are slow."""

from dataclasses import dataclass, field
from time import perf_counter

from mhaug.distributed.world import World

SECONDS = 60.0  # a resumed run repeats at most so many, and the update in which they ran out


@dataclass
class Schedule:
    """Asked after every update by all ranks together; rank 0 decides, as clocks differ."""

    every: int  # updates
    world: World
    saved: float = field(default_factory=perf_counter)

    def due(self, updates: int) -> bool:
        """Whether to save after this many updates; then it is taken for done.

        Several ranks save the first update too: there are more of them to be lost, and they can go on.
        """
        first, late = updates == 1 and self.world.size > 1, perf_counter() - self.saved >= SECONDS
        due = self.world.decides(first or late or updates % self.every == 0)
        if due:
            self.saved = perf_counter()
        return due
