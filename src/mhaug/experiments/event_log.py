"""Curves of finished runs for TensorBoard: a folder a run, which `tensorboard --logdir` shows side by side."""

import time
from pathlib import Path
from typing import Any

from mhaug.checks import RequestError
from mhaug.experiments.record import RunRecord
from mhaug.experiments.run_key import key_of
from mhaug.experiments.spec import RunSpec


class EventLog:
    """Writes into `folder`; refused at once where TensorBoard is missing, not after the first long run."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._writer: Any = _writer()

    def add(self, record: RunRecord) -> Path:
        """Every curve of the record against updates, and its settings as text; a run that was there is replaced."""
        place = self.folder / run_name(record.spec)
        for old in place.glob("events.out.tfevents.*"):
            old.unlink()
        # as if it ended now: the clock of each update is not kept, their number is
        begun, pace = time.time() - record.seconds, record.seconds / max(record.updates, 1)
        with self._writer(str(place)) as events:
            events.add_text("settings", _settings(record), walltime=begun)
            for name, curve in record.history.items():
                for update, value in enumerate(curve, start=1):
                    events.add_scalar(_tag(name), value, update, walltime=begun + update * pace)
        return place


def run_name(spec: RunSpec) -> str:
    """Short words, and enough of the store's key to tell settings apart."""
    return f"{Path(spec.dataset).stem}-{spec.backbone}-{spec.method}/seed-{spec.seed}-{key_of(spec)[:6]}"


def _tag(name: str) -> str:
    """Tags with the same first part are drawn in one group: losses, accuracies, the chain's change ratios."""
    if name.startswith("loss_"):
        return name.replace("_", "/", 1)
    first, _, kind = name.rpartition("_")
    return f"{kind}/{first}" if kind in ("accuracy", "change") else f"chain/{name}"


def _settings(record: RunRecord) -> str:
    """A Markdown table, which TensorBoard renders: names, settings, results, versions."""
    spec = {name: value for name, value in record.spec.to_json().items() if name != "settings"}
    results = {name: getattr(record, name) for name in ("validation_accuracy", "test_accuracy", "best_update")}
    rows = {**spec, **record.settings, **results, **record.versions}
    return "\n".join(["| name | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())])


def _writer() -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as missing:
        raise RequestError("--log-dir needs the package tensorboard: pip install 'mhaug[log]'") from missing
    return SummaryWriter
