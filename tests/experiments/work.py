"""Work for engines under test: quick, and deadly where asked."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from mhaug import RunSpec, run
from mhaug.experiments.engines.engine import Work


@dataclass(frozen=True)
class Deadly:
    """Seed 1 kills its process in mid-run (the first time only, with a `grave`); seed 2 raises."""

    grave: str | None = None
    seconds: float = 0.0

    def __call__(self, spec):
        time.sleep(self.seconds)
        if spec["seed"] == 1 and (self.grave is None or not Path(self.grave).exists()):
            run(RunSpec.from_json(spec), report=self._die)
        if spec["seed"] == 2:
            raise ValueError("seed 2\nis unlucky")
        return Work()(spec)

    def _die(self, progress):
        if progress.updates == 3:
            if self.grave is not None:
                Path(self.grave).write_text("in mid-run")
            os.kill(os.getpid(), signal.SIGKILL)
