"""What makes a run this run and no other."""

import hashlib
import json
from pathlib import Path
from typing import Any

from mhaug.checks import RequestError
from mhaug.data.datasets import is_built_in
from mhaug.data.files.content import content_hash
from mhaug.experiments.plain_json import dumps, plain
from mhaug.experiments.record import RunRecord
from mhaug.experiments.spec import RunSpec
from mhaug.training.plan import every_setting

# settings that came later, at the value that means what was always done: runs of before keep their keys
LATER = {
    "chain_parts": None,
    "edge_strength_slope": 0.0,
    "node_strength_slope": 0.0,
    "weight_averaging": 0.0,
}


def identity(spec: RunSpec) -> dict[str, Any]:
    """Names, seed, every setting, the user's graph: presets, defaults and files may change, and it is another run."""
    settings = settings_of(spec).items()
    same = [name for name, value in settings if name in LATER and value == LATER[name]]
    whole = {**spec.to_json(), "settings": {name: value for name, value in settings if name not in same}}
    path = Path(spec.dataset).expanduser()
    return whole if is_built_in(spec.dataset) or not path.exists() else {**whole, "graph": content_hash(path)}


def later_settings(spec: RunSpec) -> dict[str, Any]:
    """What `identity` may leave out, at the value that leaving it out means."""
    return {name: LATER[name] for name in settings_of(spec) if name in LATER}


def settings_of(spec: RunSpec) -> dict[str, Any]:
    """Every setting, as JSON."""
    try:
        settings = spec.all_settings()
    except RequestError:  # a spec of another version, which nothing can be run from today
        settings = spec.given_settings()
    whole: dict[str, Any] = plain(settings)
    return whole


def completed(record: RunRecord) -> dict[str, Any]:
    """The settings of a record, with the defaults that records did not name once."""
    spec = record.spec
    try:
        settings = every_setting(spec.backbone, spec.method, record.settings)
    except RequestError:  # a method of another version
        settings = record.settings
    whole: dict[str, Any] = plain(settings)
    return whole


def settings_today(spec: RunSpec) -> dict[str, Any]:
    """What its cell would be given today, without overrides."""
    return settings_of(RunSpec.from_json({**spec.to_json(), "settings": {}}))


def key_of(spec: RunSpec) -> str:
    """`identity` in 32 letters."""
    return _short(dumps(identity(spec), sort_keys=True))


def earlier_key_of(spec: RunSpec) -> str:
    """The same as stores had it before defaults and graph files were part of it."""
    return _short(json.dumps({**spec.to_json(), "settings": spec.given_settings()}, sort_keys=True))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
