"""The command that makes runs again, exactly."""

import json
import os
import shlex
from collections.abc import Sequence
from typing import Any

from mhaug.experiments.record import RunRecord
from mhaug.experiments.run_key import completed, settings_today
from mhaug.experiments.spec import RunSpec
from mhaug.methods.presets import OWN_FILE


def command(records: Sequence[RunRecord]) -> str:
    """`mhaug sweep ...` for runs that differ in their seeds only.

    Settings are given wherever those of the run are not what presets and defaults give today; where a record does not
    name a setting, it had the default, whatever presets have come since.
    """
    first = records[0]
    words = _words(first.spec, [record.spec.seed for record in records])
    today = settings_today(first.spec)
    for name, value in sorted(completed(first).items()):
        if name not in today or _value(today[name]) != _value(value):
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
    # presets of one's own are part of what the command gives
    own = os.environ.get(OWN_FILE)
    words = ["env", f"{OWN_FILE}={own}"] if own else []
    words += ["mhaug", "sweep", "--dataset", spec.dataset, "--backbone", spec.backbone, "--method", spec.method]
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
