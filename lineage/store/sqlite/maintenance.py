"""Look after a store file: verify, copy and compact it while other processes use it."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import apsw

from lineage.store.errors import StoreAccessError, StoreDamagedError, StoreError
from lineage.store.graph.schema import SCHEMA_VERSION
from lineage.store.sqlite.backend import LOCK_SECONDS, SqliteBackend
from lineage.store.sqlite.connection import SqliteConnection, error_from
from lineage.store.sqlite.files import APPLICATION, check_file, place, refuse_log_of_another, remove_files
from lineage.store.sqlite.statements import check_statements

__all__ = ["compact", "copy_store", "find_damage", "recover"]

_PAGES_AT_ONCE = 1_000
_SHOWN = 20


def find_damage(path: Path) -> list[str]:
    """Return what is wrong with a store file, at most twenty lines; nothing is written.

    Every page is read with its checksum, SQLite looks at its own structures, and each number that refers to a table,
    column or job is looked up.

    Raises:
        StoreError: the file cannot be read, or a page is damaged.
    """
    backend = SqliteBackend(path, read_only=True, to_copy=True)
    backend.close()
    # The rows of an earlier version are in tables of that version.
    checks = check_statements() if backend.schema_version == SCHEMA_VERSION else {}
    try:
        with closing(SqliteConnection(path, read_only=True)) as connection:
            found = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({_SHOWN})") if row[0] != "ok"]
            for what, statement in checks.items():
                number = connection.value(statement)
                if number:
                    found.append(f"{number} {what}")
            return found[:_SHOWN]
    except apsw.Error as error:
        raise error_from(path, error, StoreError) from error


def copy_store(source: Path, target: Path, progress: Callable[[int, int], None]) -> None:
    """Copy a store file, also while it is written, and verify the copy; `progress` gets the pages copied and all.

    Raises:
        StoreAccessError: there is a file at the target.
        StoreDamagedError: the log of another store is left there.
        StoreError: the source cannot be read, the target not written, or the copy is damaged; no copy is left then.
    """
    if target.exists():
        raise StoreAccessError(f"{target} is there already", "name another file, or move that one away")
    refuse_log_of_another(target)
    SqliteBackend(source, read_only=True, to_copy=True).close()
    made = target.with_name(f".{target.name}.{os.getpid()}")  # what has its name is a whole copy
    try:
        with (
            closing(SqliteConnection(source, read_only=True)) as reader,
            closing(SqliteConnection(made, read_only=False)) as writer,
        ):
            reader.copy_to(writer, _PAGES_AT_ONCE, progress)
        damage = find_damage(made)
        if damage:
            raise StoreDamagedError(f"the copy of {source} is damaged: {damage[0]}", "run `lineage store verify`")
        place(made, target)
    except apsw.Error as error:
        raise error_from(source, error, StoreError) from error
    finally:
        remove_files(made)


def recover(path: Path) -> bool:
    """Keep what can be read of a store whose log is damaged: everything up to the first damaged page of the log.

    Return False if the log is whole; nothing is done then.

    Raises:
        StoreError: there is no store, it is itself damaged, or another process uses it.
    """
    check_file(path, read_only=True)
    with suppress(StoreDamagedError):
        SqliteBackend(path, read_only=True, to_copy=True).close()
        return False
    try:
        with closing(SqliteConnection(path, read_only=False)) as connection:
            if connection.value("PRAGMA application_id") != APPLICATION:
                connection.close_without_the_log()
                raise StoreDamagedError(f"{path} is no lineage store", "name another path with --store")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except apsw.Error as error:
        raise error_from(path, error, StoreError) from error
    damage = find_damage(path)
    if damage:
        raise StoreDamagedError(f"{path} is damaged: {damage[0]}", "restore a backup, or ingest again into a new file")
    return True


def compact(path: Path) -> tuple[int, int]:
    """Give the space of deleted rows back to the disk; return the bytes before and after.

    Raises:
        StoreError: it cannot be written, or another process uses it.
    """
    check_file(path, read_only=True)  # there must be one
    SqliteBackend(path).close()
    before = path.stat().st_size
    try:
        with closing(SqliteConnection(path, read_only=False)) as connection:
            connection.take_locks_for(LOCK_SECONDS)
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except apsw.Error as error:
        raise error_from(path, error, StoreError) from error
    return before, path.stat().st_size
