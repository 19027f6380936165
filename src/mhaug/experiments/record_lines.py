"""Records as lines of JSON, one a line."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from mhaug.checks import RequestError
from mhaug.experiments.plain_json import dumps
from mhaug.experiments.record import RunRecord


def read_lines(path: Path) -> Iterator[RunRecord]:
    """Every line's record; empty lines are passed over."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                if line.strip():
                    yield RunRecord.from_json(line.decode())
            except (ValueError, KeyError, TypeError, AttributeError) as broken:
                raise RequestError(
                    f"records must have a whole record on every line; got {str(path)!r}, line {number} ({broken!r})"
                ) from broken


def write_lines(records: Iterable[RunRecord], path: Path, *, history: bool) -> int:
    """Each record as a line; how many."""
    lines = 0
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(dumps(record.to_json(history=history)) + "\n")
            lines += 1
    return lines
