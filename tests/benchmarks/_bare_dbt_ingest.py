"""The least that a first ingest of a dbt project has to do: read the manifest, parse its SQL, copy in the rows.

`save_rows` takes the rows from a store that an ingest has filled. The module, run as a command, does these three things
in a process of its own, and nothing in between: it resolves no column and knows the rows before it parses.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from contextlib import closing
from pathlib import Path

from lineage.model.dialects import dialect_named
from lineage.sql.budget import Budget
from lineage.sql.parse.statements import parse_statements
from lineage.store.sqlite.connection import SqliteConnection
from lineage.store.sqlite.statements import migrations

__all__ = ["save_rows"]


def save_rows(store: Path, folder: Path) -> int:
    """Write the rows of a store's tables as files; return how many rows there are."""
    folder.mkdir()
    rows = 0
    with closing(SqliteConnection(store, read_only=True)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'meta'").fetchall()
        for name in (str(row[0]) for row in tables):
            found = connection.execute(f"SELECT * FROM {name}").fetchall()
            if found:
                (folder / name).write_bytes(pickle.dumps(found))
                rows += len(found)
    return rows


def _run(manifest: Path, rows: Path, store: Path) -> None:
    began = time.process_time()
    nodes = json.loads(manifest.read_bytes())["nodes"]
    dialect = dialect_named("postgres")
    for node in nodes.values():
        list(parse_statements(node.get("compiled_code") or "", dialect, Budget()))
    parsed = time.process_time()
    with closing(SqliteConnection(store, read_only=False)) as connection:
        connection.reserve_checksums()
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(migrations()[1])
        connection.execute("BEGIN IMMEDIATE")
        for path in sorted(rows.iterdir()):
            table = pickle.loads(path.read_bytes())
            connection.execute_many(f"INSERT INTO {path.name} VALUES ({', '.join('?' * len(table[0]))})", table)
        connection.execute("COMMIT")
    print(json.dumps({"reading_and_parsing": parsed - began, "copying": time.process_time() - parsed}))


if __name__ == "__main__":
    _run(*map(Path, sys.argv[1:]))
