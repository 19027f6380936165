"""The command that makes runs again, exactly."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from mhaug.experiments.record import RunRecord
from mhaug.experiments.run_key import settings_today
from mhaug.experiments.spec import RunSpec


def command(records: Sequence[RunRecord]) -> str:
    """`mhaug sweep ...` for runs that differ in their seeds only.

    Settings are given wherever the presets of today differ from those of the day of the run.
    """
    first = records[0]
    words = _words(first.spec, [record.spec.seed for record in records])
    today = settings_today(first.spec)
    for name, value in sorted(first.settings.items()):
        if name not in today or today[name] != value:
            words += ["--set", f"{name}={_value(value)}"]
    if first.device != "cpu":
        words += ["--device", first.device, "--engine", "batch"]
    return shlex.join(words)


def retry_command(spec: RunSpec) -> str:
    """The same for a run that failed."""
    words = _words(spec, [spec.seed])
    for name, value in spec.own_settings().items():
        words += ["--set", f"{name}={_value(value)}"]
    return shlex.join([*words, "--retry-failed"])


def _words(spec: RunSpec, seeds: Sequence[int]) -> list[str]:
    words = ["mhaug", "sweep", "--dataset", spec.dataset, "--backbone", spec.backbone, "--method", spec.method]
    words += ["--seeds", _seeds(seeds)]
    return words if spec.split == "public" else [*words, "--split", spec.split]


def _seeds(seeds: Sequence[int]) -> str:
    """[0, 1, 2, 5] -> "0-2,5"."""
    parts: list[list[int]] = []
    for seed in sorted(seeds):
        if parts and seed == parts[-1][-1] + 1:
            parts[-1].append(seed)
        else:
            parts.append([seed])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _value(value: Any) -> str:
    """As `--set` reads it: a plain word where that is not JSON by chance."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except json.JSONDecodeError:
            return value
    return json.dumps(value)
