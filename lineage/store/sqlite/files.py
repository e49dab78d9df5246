"""The file of a store: what may be opened, and how a new one is made and migrated."""

from __future__ import annotations

import os
import threading
from contextlib import closing, suppress
from pathlib import Path

from lineage.store.errors import (
    StoreAccessError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreUnreachableError,
)
from lineage.store.sqlite.connection import SqliteConnection
from lineage.store.sqlite.locks import refuse_network_file_system
from lineage.store.sqlite.log_file import holds_page
from lineage.store.sqlite.statements import migrations

__all__ = [
    "APPLICATION",
    "check_file",
    "create",
    "cut_log",
    "migrate",
    "place",
    "refuse_log_of_another",
    "remove_files",
]

APPLICATION = 0x4C696E67
"""What tells a lineage store from other SQLite files: `PRAGMA application_id`."""
_BEFORE = (b"LBUG", b"KUZU")
"""How the files of the embedded database before SQLite begin."""


def create(path: Path) -> None:
    """Make an empty store, which is there as a whole or not at all, also if several processes make it at once."""
    made = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        with closing(SqliteConnection(made, read_only=False)) as connection:
            connection.reserve_checksums()
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            migrate(connection)
            # Else closing it does so, and says nothing if the disk is full: the log would be removed with its content.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        if not path.exists():  # else another process was faster
            with suppress(StoreAccessError):
                place(made, path)
        if not path.exists():
            raise StoreAccessError(f"{path} cannot be made", "name another path with --store")
    except (OSError, StoreError) as error:
        if isinstance(error, StoreFullError):
            raise
        raise StoreAccessError(f"{path} cannot be made", "name another path with --store") from error
    finally:
        remove_files(made)


def place(made: Path, path: Path) -> None:
    """Give a closed store its name.

    Raises:
        StoreAccessError: there is a file of that name, or none may be made.
    """
    try:
        try:
            os.link(made, path)
        except FileExistsError:
            raise StoreAccessError(f"{path} is there already", "name another file, or move that one away") from None
        except OSError:  # some file systems have no links
            if path.exists():
                raise
            made.rename(path)
    except OSError as error:
        raise StoreAccessError(f"{path} cannot be made: {error.strerror}", "name another path with --store") from error


def remove_files(path: Path) -> None:
    """Remove a store that nobody uses, with what is beside it."""
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def migrate(connection: SqliteConnection) -> None:
    """Run the missing migrations in the transaction that has begun, and commit it."""
    try:
        version = int(connection.value("PRAGMA user_version"))
        for number, text in migrations().items():
            if number > version:
                connection.execute(text)
                connection.execute(f"PRAGMA user_version = {number}; PRAGMA application_id = {APPLICATION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def refuse_log_of_another(path: Path) -> None:
    """Refuse a place where the log of a store is left without its store: SQLite would write it into the next one.

    Raises:
        StoreDamagedError: there is such a log, with something in it.
    """
    log = Path(f"{path}-wal")
    # In this order: a process that makes a store at the same time has the store before its log.
    if log.exists() and log.stat().st_size and not path.exists():
        raise StoreDamagedError(
            f"there is {log}, the log of a store that is not there",
            "put the store back, or remove that file, too; it has what the store was given last",
        )


def cut_log(path: Path) -> StoreDamagedError:
    """Return the error that a part of a store's log cannot be read."""
    return StoreDamagedError(
        f"{path}-wal is damaged, the log of what was stored last: a part of it cannot be read",
        "restore a backup, or do without that part: `lineage store recover`; nothing was written over",
    )


def _is_of_before(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) in _BEFORE


def _ends_within_a_page(path: Path) -> bool:
    """Return whether the last page of a file is not all there; SQLite would read the rest of it as zeros."""
    with path.open("rb") as file:
        head = file.read(18)
    size = int.from_bytes(head[16:18], "big")  # 1 stands for 65,536
    if not head.startswith(b"SQLite format 3\0") or size < 512:
        return False
    pages, rest = divmod(path.stat().st_size, size)
    return bool(rest) and not holds_page(path, pages + 1)  # a checkpoint that was cut short is done again


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=True)


def check_file(path: Path, *, read_only: bool) -> None:
    """Refuse what SQLite would take for a new store, or say in its own words.

    Raises:
        StoreUnreachableError: there is no such file or folder, or it may not be read.
        StoreDamagedError: the file is empty.
    """
    try:
        there = path.exists()
        if there and path.is_dir():
            raise StoreAccessError(f"{path} is a folder, not a store", "name a file with --store")
        if not there and read_only:
            raise StoreUnreachableError(
                f"there is no store at {path}",
                "ingest something first, or name another path with --store or LINEAGE_STORE",
            )
        if there and _is_of_before(path):
            raise StoreDamagedError(
                f"{path} was written by a development version, whose format this one does not read",
                "ingest again into a new file",
            )
        if there and _ends_within_a_page(path):
            raise StoreDamagedError(
                f"{path} was cut off", "restore a backup, or remove the file and ingest again; nothing was written over"
            )
        if there and path.stat().st_size == 0:
            raise StoreDamagedError(
                f"{path} is empty: it was cut off, or is no lineage store",
                "restore a backup, or remove the file and ingest again; nothing was written over",
            )
    except OSError as error:
        raise StoreAccessError(f"{path} cannot be opened: {error.strerror}") from error
    refuse_network_file_system(path)
    if read_only:
        return
    if there and not _may_write(path):
        raise StoreAccessError(f"no permission to write {path}", "open it read-only, or ask its owner")
    if not there and path.parent.is_dir() and not _may_write(path.parent):
        raise StoreAccessError(f"no permission to make {path}", "name another path with --store")
    if not there:
        refuse_log_of_another(path)
    if not there and not path.parent.is_dir():
        raise StoreUnreachableError(f"there is no folder {path.parent}", "make it, or name another path with --store")
