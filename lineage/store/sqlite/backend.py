"""The SQLite backend: opens the file, migrates its schema, runs transactions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from lineage.store.cypher.statements import query
from lineage.store.errors import (
    StoreAccessError,
    StoreDamagedError,
    StoreError,
    StoreSchemaError,
    StoreUnreachableError,
    StoreWriteError,
)
from lineage.store.exploring import Explorer, View
from lineage.store.sqlite.connection import Connection, error_from
from lineage.store.sqlite.explorer import SqliteExplorer
from lineage.store.sqlite.statements import migrations
from lineage.store.sqlite.transaction import SqliteTransaction
from lineage.store.time_limit import interruptible

__all__ = ["SCHEMA_VERSION", "SqliteBackend"]

T = TypeVar("T")

SCHEMA_VERSION = 1
APPLICATION = 0x4C696E67
"""What tells a lineage store from other SQLite files: `PRAGMA application_id`."""
LOCK_SECONDS = 60.0
_WAIT_SECONDS = 0.02
_NAMED = ":memory:"


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
        self._idle: list[Connection] = []
        self._writer = threading.Lock()
        self._session: int | None = None
        _check_file(path, read_only=read_only)
        try:
            with self._connected() as connection:
                self._version = self._prepare(connection)
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
    def is_exclusive(self) -> bool:
        """False: other processes may write."""
        return False

    @property
    def reports_missing_ends(self) -> bool:
        """True: the ends of relationships are looked up."""
        return True

    @property
    def last_session(self) -> int | None:
        """The number of the session that wrote last."""
        found = self.reading(lambda transaction: transaction.read(query("last_session"), [{}]))
        return int(found[0]["number"]) if found else None

    def reading(self, work: Callable[[SqliteTransaction], T]) -> T:
        """Return the result of `work`, which sees one committed state."""
        return self._read(lambda connection: work(SqliteTransaction(connection)))

    def exploring(self, work: Callable[[Explorer], T], view: View) -> T:
        """Return the result of `work`, which explores one committed state."""
        return self._read(lambda connection: work(SqliteExplorer(connection, view)))

    def _read(self, work: Callable[[Connection], T]) -> T:
        try:
            with self._connected() as connection, interruptible(connection.interrupt):
                connection.execute("BEGIN")
                try:
                    return work(connection)
                finally:
                    connection.execute("ROLLBACK")
        except apsw.Error as error:
            raise error_from(self._path, error, StoreError) from error

    def writing(self, work: Callable[[SqliteTransaction], T], stripes: Sequence[int] = ()) -> T:
        """Run `work` in a transaction, commit it and return its result."""
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
    def _connected(self) -> Iterator[Connection]:
        """Have a connection of one's own during the block."""
        if self._closed:
            raise StoreUnreachableError(f"{self._path} was closed")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = Connection(self._path, read_only=self._read_only)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def _begin(self, connection: Connection) -> None:
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

    def _number_session(self, connection: Connection) -> None:
        """Note that this session has written, unless it was the last one to do so."""
        last = connection.execute("SELECT value FROM meta WHERE key = 'session'").get
        if self._session is None or last != self._session:
            self._session = (last or 0) + 1
            statement = "INSERT OR REPLACE INTO meta (key, value) VALUES ('session', ?)"
            connection.execute(statement, (self._session,))

    def _prepare(self, connection: Connection) -> int:
        """Create or migrate the schema; return its version."""
        version = int(connection.execute("PRAGMA user_version").get)
        application = int(connection.execute("PRAGMA application_id").get)
        tables = int(connection.execute("SELECT count(*) FROM sqlite_master").get)
        if tables and application != APPLICATION:
            raise StoreDamagedError(f"{self._path} is no lineage store", "name another path with --store")
        if version > SCHEMA_VERSION:
            raise StoreSchemaError(
                f"{self._path} has schema version {version}; this program supports up to {SCHEMA_VERSION}",
                "open it with the newer version of lineage-graph that wrote it",
            )
        if version == SCHEMA_VERSION or self._read_only:
            return version
        if not tables:
            connection.reserve_checksums()
            connection.execute("PRAGMA journal_mode = WAL")
        self._begin(connection)
        try:
            version = int(connection.execute("PRAGMA user_version").get)
            for number, text in migrations().items():
                if number > version:
                    connection.execute(text)
                    connection.execute(f"PRAGMA user_version = {number}; PRAGMA application_id = {APPLICATION}")
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        return SCHEMA_VERSION


def _check_file(path: Path, *, read_only: bool) -> None:
    """Refuse what SQLite would take for a new store, or say in its own words.

    Raises:
        StoreUnreachableError: there is no such file or folder, or it may not be read.
        StoreDamagedError: the file is empty.
    """
    try:
        there = path.exists()
        if there and path.is_dir():
            raise StoreAccessError(f"{path} is a folder", "name a file with --store")
        if not there and read_only:
            raise StoreUnreachableError(
                f"there is no store at {path}", "ingest something first, or name another path with --store or LINEAGE_STORE"
            )
        if there and path.stat().st_size == 0:
            raise StoreDamagedError(
                f"{path} is empty: it was cut off, or is no lineage store",
                "restore a backup, or remove the file and ingest again; nothing was written over",
            )
    except OSError as error:
        raise StoreAccessError(f"{path} cannot be opened: {error.strerror}") from error
    if not there and not path.parent.is_dir():
        raise StoreUnreachableError(f"there is no folder {path.parent}", "make it, or name another path with --store")
