"""A connection to the file: how it is opened, its errors in the words of stores, and statements with a time limit."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import apsw
import apsw.sqlite_extra

from lineage.store.errors import (
    StoreAccessError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreTimeoutError,
    StoreUnreachableError,
    StoreWriteError,
)
from lineage.store.sqlite.locks import writer_of
from lineage.store.sqlite.statements import Make, maker

T = TypeVar("T")

__all__ = ["SqliteConnection", "error_from", "is_open_here"]

_CHECKED = "cksmvfs"
_RESERVED = 8
"""Bytes that the checksum of a page takes at its end."""
_SETTINGS = """
PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;
PRAGMA cell_size_check = ON;
"""
_READER_SECONDS = 10.0
_STEPS = 200_000
"""SQLite's steps between two looks at the clock: about ten milliseconds. Each waits for other threads of Python."""


_NO_ROOM = (apsw.SQLITE_IOERR_WRITE, apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_TRUNCATE)
"""Errors of a file that may not grow."""


_open_here: Counter[Path] = Counter()


def is_open_here(path: Path) -> bool:
    """Return whether this process has a connection to the file."""
    return _open_here[path.absolute()] > 0


class SqliteConnection:
    """A connection, which one thread at a time uses."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        """Open the file; it must exist if `read_only`.

        Raises:
            StoreUnreachableError: it cannot be opened; see the subclasses.
        """
        self._path = path
        self._is_closed = False
        self._ends = float("inf")
        self._lock_seconds, self._waiting_since = _READER_SECONDS, 0.0
        self._makers: dict[str, Make] = {}
        # A reader that may, ends the log as a writer does: else it would leave the files beside the store.
        sealed = read_only and not _may_end_log(path)
        flags = apsw.SQLITE_OPEN_URI
        flags |= apsw.SQLITE_OPEN_READONLY if sealed else apsw.SQLITE_OPEN_READWRITE
        flags |= 0 if read_only else apsw.SQLITE_OPEN_CREATE
        try:
            _load_checksums()
            self._own = apsw.Connection(
                _address(path, read_only=read_only), flags=flags, vfs=_CHECKED, statementcachesize=400
            )
            # Else SQLite plans a statement anew for each value of its parameters, which takes longer than most queries.
            self._own.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            self._own.set_busy_handler(self._waits)
            self._own.execute(_SETTINGS + ("PRAGMA query_only = ON" if read_only else ""))
            self._own.create_scalar_function("folded", _folded, 1, deterministic=True)
            self._own.set_progress_handler(self._is_late, _STEPS)
            _open_here[path.absolute()] += 1
        except apsw.Error as error:
            raise error_from(path, error, StoreUnreachableError) from error

    def take_locks_for(self, seconds: float) -> None:
        """Wait so long for the locks of others. Readers wait only while SQLite reads or ends the log of the store."""
        self._lock_seconds = seconds

    @property
    def frames(self) -> int:
        """The number of pages that SQLite reads of the store's log."""
        *_, (_, frames, _) = self._own.execute("PRAGMA wal_checkpoint(NOOP)")
        return int(frames)

    def close_without_the_log(self) -> None:
        """Close it and leave the log of the store as it is."""
        self._own.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self.close()

    def reserve_checksums(self) -> None:
        """Have each page of a new file end with its checksum."""
        self._own.reserve_bytes(reserve=_RESERVED)

    def execute(self, statement: str, parameters: Any = ()) -> apsw.Cursor:
        """Run a statement and return its rows."""
        return self._own.execute(statement, parameters)

    def value(self, statement: str, parameters: Any = ()) -> Any:
        """Return the only value of the first row of a statement; None if there is no row."""
        return self._own.execute(statement, parameters).get

    def execute_many(self, statement: str, rows: Any) -> None:
        """Run a statement for each row of parameters."""
        self._own.executemany(statement, rows)

    def rows(self, statement: str, parameters: Mapping[str, Any], seconds: float | None) -> list[tuple[Any, ...]]:
        """Return the rows of a statement.

        Raises:
            StoreTimeoutError: it took longer than so many seconds.
        """
        return self._limited(seconds, lambda: self._own.execute(statement, parameters).fetchall())

    def dictionaries(
        self, statement: str, every: Iterable[Mapping[str, Any]], seconds: float | None
    ) -> list[dict[str, Any]]:
        """Return the rows of a statement as dictionaries, by the names of its columns (`statements.maker`).

        It runs once with each of the parameters in `every`.
        """

        def read() -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = []
            execute, make = self._own.execute, self._makers.get(statement)
            for parameters in every:
                cursor = execute(statement, parameters)
                rows = cursor.fetchall() if make is not None else [*islice(cursor, 1)]
                if make is None and rows:
                    make = self._makers[statement] = maker(tuple(name for name, *_ in cursor.get_description()))
                    rows += cursor.fetchall()
                if make is not None:
                    found += map(make, rows)
            return found

        return self._limited(seconds, read)

    def copy_to(self, other: SqliteConnection, pages: int, progress: Callable[[int, int], None]) -> None:
        """Copy the whole database into another, so many pages at a time; `progress` gets those copied and all."""
        other.reserve_checksums()
        with other._own.backup("main", self._own, "main") as copying:
            while not copying.done:
                copying.step(pages)
                progress(copying.page_count - copying.remaining, copying.page_count)
        other.execute("PRAGMA journal_mode = WAL")

    def rollback(self) -> None:
        """End a transaction without its changes. After some errors, such as a full disk, SQLite has done so already."""
        if not self._own.get_autocommit():
            with suppress(apsw.Error):
                self._own.execute("ROLLBACK")

    def interrupt(self) -> None:
        """End the statement that runs, from another thread."""
        self._own.interrupt()

    def close(self) -> None:
        """Close it. A second call does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._own.close()
            _open_here[self._path.absolute()] -= 1

    def _limited(self, seconds: float | None, read: Callable[[], T]) -> T:
        self._ends = float("inf") if seconds is None else time.monotonic() + seconds
        try:
            return read()
        except apsw.InterruptError as error:
            raise StoreTimeoutError from error
        finally:
            self._ends = float("inf")

    def _waits(self, attempts: int) -> bool:
        """Return whether SQLite tries again to take a lock, after a pause."""
        now = time.monotonic()
        if not attempts:
            self._waiting_since = now
        if now > self._waiting_since + self._lock_seconds:
            return False
        time.sleep(min(0.001 * 2**attempts, 0.02))
        return True

    def _is_late(self) -> bool:
        return time.monotonic() > self._ends


def error_from(path: Path, error: apsw.Error, failure: type[StoreError]) -> StoreError:
    """Return the error of a store for an error of SQLite; `failure` if it is none of the known ones."""
    if isinstance(error, apsw.BusyError):
        return locked(path)
    extended = getattr(error, "extendedresult", None)
    if isinstance(error, apsw.FullError) or extended in _NO_ROOM:
        return StoreFullError(f"{path}: the disk is full", "make room: nothing was stored, and reads still work")
    if isinstance(error, apsw.CorruptError | apsw.NotADBError) or extended == apsw.SQLITE_IOERR_DATA:
        return StoreDamagedError(
            f"{path} is damaged, or no lineage store",
            "restore a backup, or remove the file and ingest again; nothing was written over",
        )
    if isinstance(error, apsw.ReadOnlyError) and failure is StoreWriteError:
        return StoreWriteError(f"{path} is opened read-only")
    if isinstance(error, apsw.ReadOnlyError | apsw.PermissionsError | apsw.CantOpenError):
        return StoreAccessError(
            f"{path} cannot be opened: {error}", "look at the permissions of the file and its folder"
        )
    if isinstance(error, apsw.IOError):
        return StoreUnreachableError(
            f"{path} cannot be read or written: {error}", "look at the disk and the file system"
        )
    return failure(f"{path}: {error}")


def locked(path: Path) -> StoreLockedError:
    """Return the error that another process has kept a store locked for too long."""
    return StoreLockedError(
        f"{writer_of(path) or 'another process'} writes to {path}",
        "try again when it has ended, or wait longer with --lock-timeout SECONDS or LINEAGE_LOCK_TIMEOUT",
    )


def _address(path: Path, *, read_only: bool) -> str:
    """Return the path as a URI. A file in a folder where nobody writes has no files beside it, which WAL needs."""
    address = f"file:{quote(str(path.absolute()))}"
    closed = read_only and not os.access(path.parent, os.W_OK, effective_ids=True)
    return f"{address}?immutable=1" if closed and not Path(f"{path}-wal").exists() else address


def _may_end_log(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=True) and os.access(path.parent, os.W_OK, effective_ids=True)


def _folded(*values: Any) -> str:
    return str(values[0]).lower()


def _load_checksums() -> None:
    if _CHECKED not in apsw.vfs_names():
        with apsw.Connection(":memory:") as memory:
            apsw.sqlite_extra.load(memory, "cksumvfs")
