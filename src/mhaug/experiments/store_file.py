"""The file of a run store: opened for reading without a trace, or for writing, by one sweep at a time."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mhaug.checks import RequestError
from mhaug.experiments.store_layout import bring_up_to_date, check_tables

PATIENCE = 60.0  # seconds that SQLite itself waits for a lock
_TRIES = 10


def open_to_read(path: str | Path) -> sqlite3.Connection:
    """A connection that changes nothing, not even which files lie beside the store."""
    path = Path(path).resolve()
    with path.open("rb") as file:
        written_ahead = file.read(20)[18:] == b"\2\2"
    # a copy, or a store that was left in haste: SQLite would begin a log for it
    alone = written_ahead and not Path(f"{path}-wal").exists()
    connection = sqlite3.connect(
        f"{path.as_uri()}?{'immutable=1' if alone else 'mode=ro'}", uri=True, timeout=PATIENCE, isolation_level=None
    )
    check_tables(connection)
    return connection


def open_to_write(path: str | Path) -> sqlite3.Connection:
    """A connection to a store with today's tables. Readers do not stop it, nor it them."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    check_tables(connection)
    insist(lambda: connection.execute("pragma journal_mode=wal"))
    # after each run the store itself has everything, and not the log beside it
    connection.execute("pragma wal_autocheckpoint=1")
    insist(lambda: bring_up_to_date(connection))
    return connection


def close_written(connection: sqlite3.Connection) -> None:
    """One plain file is left, unless someone is reading just now."""
    with suppress(sqlite3.OperationalError):
        connection.execute("pragma busy_timeout=5000")
        connection.execute("pragma journal_mode=delete")
    connection.close()


def insist(work: Callable[[], object]) -> None:
    """Hours of runs are worth more than a lock that someone forgot: try for a long time."""
    for left in reversed(range(_TRIES)):
        try:
            work()
            return
        except sqlite3.OperationalError as busy:
            if not left or not ("locked" in str(busy) or "busy" in str(busy)):
                raise
            time.sleep(1.0)


@contextmanager
def only_one(path: str | Path) -> Iterator[None]:
    """Whoever is inside is the only one with this store, on all machines that share the disk; a kill ends it, too."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    lock = sqlite3.connect(f"{path}.lock", timeout=0.0, isolation_level=None)
    try:
        try:
            lock.execute("begin exclusive")
        except sqlite3.OperationalError as taken:
            if "locked" not in str(taken):
                raise
            raise RequestError(f"store must be used by one sweep at a time; {str(path)!r} is in use") from taken
        yield
    finally:
        lock.close()
