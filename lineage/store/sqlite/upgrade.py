"""What happens to a store of an earlier version: it is copied, then migrated."""

from __future__ import annotations

import logging
import os
from contextlib import closing
from itertools import chain, count
from pathlib import Path

from lineage.store.errors import StoreDamagedError
from lineage.store.sqlite.connection import SqliteConnection
from lineage.store.sqlite.files import migrate, place, remove_files

__all__ = ["upgrade"]

_log = logging.getLogger(__name__)
_PAGES_AT_ONCE = 1_000


def upgrade(path: Path, connection: SqliteConnection, version: int, to: int) -> None:
    """Copy the file beside itself, then run the missing migrations in the transaction that has begun, and commit it.

    Nobody else writes meanwhile, so the copy has all of what is migrated.

    Raises:
        StoreError: the copy cannot be made, or is damaged; nothing is migrated then.
    """
    try:
        kept = _free_name(path, version)
        _log.warning("%s has schema version %d: it is copied to %s, then migrated to %d", path, version, kept, to)
        _copy(path, kept)
    except BaseException:
        connection.rollback()
        raise
    migrate(connection)


def _free_name(path: Path, version: int) -> Path:
    """Return the name of a copy, such as `lineage.db.version1`; a file that is there may be of another store."""
    first = path.with_name(f"{path.name}.version{version}")
    numbered = (first.with_name(f"{first.name}-{number}") for number in count(2))
    return next(one for one in chain([first], numbered) if not one.exists())


def _copy(path: Path, kept: Path) -> None:
    made = kept.with_name(f".{kept.name}.{os.getpid()}")  # what has its name is a whole copy
    try:
        with (
            closing(SqliteConnection(path, read_only=True)) as reader,
            closing(SqliteConnection(made, read_only=False)) as writer,
        ):
            reader.copy_to(writer, _PAGES_AT_ONCE, lambda *_: None)
            found = writer.value("PRAGMA quick_check(1)")
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if found != "ok":
            raise StoreDamagedError(f"{path} is damaged: {found}", "restore a backup; nothing was migrated")
        place(made, kept)
    finally:
        remove_files(made)
