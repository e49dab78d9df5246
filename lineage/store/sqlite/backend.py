"""The SQLite backend: opens the file, migrates its schema, runs transactions."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from lineage.store.cypher.schema import SCHEMA_VERSION
from lineage.store.errors import (
    StoreAccessError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreSchemaError,
    StoreUnreachableError,
    StoreWriteError,
)
from lineage.store.exploring import Explorer, View
from lineage.store.sqlite.connection import SqliteConnection, error_from
from lineage.store.sqlite.explorer import SqliteExplorer
from lineage.store.sqlite.statements import migrations
from lineage.store.sqlite.transaction import SqliteTransaction
from lineage.store.time_limit import interruptible

__all__ = ["SqliteBackend", "refuse_log_of_another"]

T = TypeVar("T")

APPLICATION = 0x4C696E67
"""What tells a lineage store from other SQLite files: `PRAGMA application_id`."""
LOCK_SECONDS = 60.0
_WAIT_SECONDS = 0.02


class SqliteBackend:
    """A SQLite file. Any number of threads and processes read it, while one writes."""

    def __init__(self, path: Path, *, read_only: bool = False, lock_seconds: float = LOCK_SECONDS) -> None:
        """Open the file. It is created if missing, and migrated if older.

        Raises:
            StoreUnreachableError: it cannot be opened; see the subclasses.
            StoreDamagedError: it is damaged, or no lineage store.
            StoreSchemaError: a newer version of this program wrote it.
        """
        self._path = path
        self._read_only = read_only
        self._lock_seconds = lock_seconds
        self._closed = False
        self._idle: list[SqliteConnection] = []
        self._writer = threading.Lock()
        self._session: int | None = None
        self._last: int | None = None
        """The session that had written last when this one last looked."""
        self._is_disturbed = False
        _check_file(path, read_only=read_only)
        try:
            if not path.exists():
                _create(path)
            with self._connected() as connection:
                self._version = self._prepare(connection)
                self._last = _session_of(connection) if self._version else None
        except StoreError:
            self.close()
            raise
        except apsw.Error as error:
            self.close()
            raise error_from(path, error, StoreUnreachableError) from error

    @property
    def address(self) -> str:
        """The file's path."""
        return str(self._path)

    @property
    def schema_version(self) -> int:
        """The version of the graph's schema."""
        return self._version

    @property
    def is_file(self) -> bool:
        """True: there is no server."""
        return True

    @property
    def reports_missing_ends(self) -> bool:
        """True: the ends of relationships are looked up."""
        return True

    @property
    def last_session(self) -> int | None:
        """The number of the session that wrote last; None if another one has written since this one was opened."""
        found = self._read(_session_of)
        return found if found == self._last and not self._is_disturbed else None

    def reading(self, work: Callable[[SqliteTransaction], T]) -> T:
        """Return the result of `work`, which sees one committed state."""
        return self._read(lambda connection: work(SqliteTransaction(connection)))

    def exploring(self, work: Callable[[Explorer], T], view: View) -> T:
        """Return the result of `work`, which explores one committed state."""
        return self._read(lambda connection: work(SqliteExplorer(connection, view)))

    def _read(self, work: Callable[[SqliteConnection], T]) -> T:
        try:
            with self._connected() as connection, interruptible(connection.interrupt):
                connection.execute("BEGIN")
                try:
                    return work(connection)
                finally:
                    connection.execute("ROLLBACK")
        except apsw.Error as error:
            raise error_from(self._path, error, StoreError) from error

    def writing(self, work: Callable[[SqliteTransaction], T], stripes: Sequence[int] = ()) -> T:  # noqa: ARG002
        """Run `work` in a transaction, commit it and return its result. It locks the file, whatever the stripes."""
        try:
            with self._writer, self._connected() as connection:
                self._begin(connection)
                try:
                    transaction = SqliteTransaction(connection)
                    answer = work(transaction)
                    self._number_session(connection)
                    connection.execute("COMMIT")
                except BaseException:
                    with suppress(apsw.Error):
                        connection.execute("ROLLBACK")
                    raise
                return answer
        except apsw.Error as error:
            raise error_from(self._path, error, StoreWriteError) from error

    def close(self) -> None:
        """Close the connections. A second call does nothing."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connected(self) -> Iterator[SqliteConnection]:
        """Have a connection of one's own during the block."""
        if self._closed:
            raise StoreUnreachableError(f"{self._path} was closed")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = SqliteConnection(self._path, read_only=self._read_only)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._give_back(connection)

    def _give_back(self, connection: SqliteConnection) -> None:
        self._idle.append(connection)
        if self._closed:  # by another thread, meanwhile
            self.close()

    def _begin(self, connection: SqliteConnection) -> None:
        """Begin to write, when no other process does."""
        ends = time.monotonic() + self._lock_seconds
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                if time.monotonic() > ends:
                    raise
                time.sleep(_WAIT_SECONDS)
            else:
                return

    def _number_session(self, connection: SqliteConnection) -> None:
        """Note that this session has written, and whether another one has since it last looked."""
        last = _session_of(connection)
        self._is_disturbed |= last != self._last
        if self._session is None or last != self._session:
            self._session = self._last = (last or 0) + 1
            statement = "INSERT OR REPLACE INTO meta (key, value) VALUES ('session', ?)"
            connection.execute(statement, (self._session,))

    def _prepare(self, connection: SqliteConnection) -> int:
        """Migrate the schema if it is older; return its version."""
        version = int(connection.value("PRAGMA user_version"))
        if int(connection.value("PRAGMA application_id")) != APPLICATION:
            raise StoreDamagedError(f"{self._path} is no lineage store", "name another path with --store")
        if version > SCHEMA_VERSION:
            raise StoreSchemaError(
                f"{self._path} has schema version {version}; this program supports up to {SCHEMA_VERSION}",
                "open it with the newer version of lineage-graph that wrote it",
            )
        if version < SCHEMA_VERSION and not self._read_only:
            self._begin(connection)
            _migrate(connection)
            version = SCHEMA_VERSION
        return version


def _create(path: Path) -> None:
    """Make an empty store, which is there as a whole or not at all, also if several processes make it at once."""
    made = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    try:
        with closing(SqliteConnection(made, read_only=False)) as connection:
            connection.reserve_checksums()
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            _migrate(connection)
        try:
            os.link(made, path)
        except FileExistsError:
            pass  # another process was faster
        except OSError:  # some file systems have no links
            if not path.exists():
                made.rename(path)
    except (OSError, StoreError) as error:
        if isinstance(error, StoreFullError):
            raise
        raise StoreAccessError(f"{path} cannot be made", "name another path with --store") from error
    finally:
        made.unlink(missing_ok=True)


def _migrate(connection: SqliteConnection) -> None:
    """Run the missing migrations in the transaction that has begun, and commit it."""
    try:
        version = int(connection.value("PRAGMA user_version"))
        for number, text in migrations().items():
            if number > version:
                connection.execute(text)
                connection.execute(f"PRAGMA user_version = {number}; PRAGMA application_id = {APPLICATION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
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


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=True)


def _session_of(connection: SqliteConnection) -> int | None:
    found: int | None = connection.value("SELECT value FROM meta WHERE key = 'session'")
    return found


def _check_file(path: Path, *, read_only: bool) -> None:
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
        if there and path.stat().st_size == 0:
            raise StoreDamagedError(
                f"{path} is empty: it was cut off, or is no lineage store",
                "restore a backup, or remove the file and ingest again; nothing was written over",
            )
    except OSError as error:
        raise StoreAccessError(f"{path} cannot be opened: {error.strerror}") from error
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
