"""The tables of a run store, and how an earlier store gets them."""

import json
import sqlite3

from mhaug.experiments.plain_json import dumps
from mhaug.experiments.run_key import earlier_key_of, key_of
from mhaug.experiments.spec import RunSpec

_RUNS = """
create table if not exists runs (
    key text primary key,           -- of the spec, all its settings and the user's graph
    dataset text not null, backbone text not null, method text not null, seed integer not null,
    status text not null check (status in ('done', 'failed')),
    spec text not null,             -- JSON
    record text,                    -- JSON, of a finished run, without its curves
    error text,                     -- of a failed one
    at text not null default (datetime('now'))
)"""
# nine tenths of a run, which few readers want
_CURVES = "create table curves (key text primary key, history text not null)"


def tables(connection: sqlite3.Connection) -> set[str]:
    """The names of the tables."""
    return {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}


def check_tables(connection: sqlite3.Connection) -> None:
    """Nothing yet, or runs: everything else is someone else's."""
    found = tables(connection)
    if found and "runs" not in found:
        raise sqlite3.DatabaseError(f"its tables are {', '.join(sorted(found))}")


def bring_up_to_date(connection: sqlite3.Connection) -> None:
    """Today's tables, whatever was there: all of it or nothing."""
    connection.execute("begin immediate")
    try:
        connection.execute(_RUNS)
        if "curves" not in tables(connection):
            connection.execute(_CURVES)
            _take_curves_out(connection)
            _give_new_keys(connection)
        connection.execute("commit")
    except BaseException:
        connection.execute("rollback")
        raise


def _take_curves_out(connection: sqlite3.Connection) -> None:
    for (key,) in connection.execute("select key from runs where status = 'done'").fetchall():
        (text,) = connection.execute("select record from runs where key = ?", (key,)).fetchone()
        record = json.loads(text)
        history = record.pop("history", {})
        connection.execute("update runs set record = ? where key = ?", (dumps(record), key))
        connection.execute("insert into curves values (?, ?)", (key, dumps(history)))


def _give_new_keys(connection: sqlite3.Connection) -> None:
    """A run whose presets are those of today is taken for today's run; keys said nothing of defaults in its day."""
    for key, text in connection.execute("select key, spec from runs order by status").fetchall():
        spec = RunSpec.from_json(text)
        if earlier_key_of(spec) == key:
            # there may be two that differ in a default spelt out: the first, finished one gets the key
            for table in ("runs", "curves"):
                connection.execute(f"update or ignore {table} set key = ? where key = ?", (key_of(spec), key))
