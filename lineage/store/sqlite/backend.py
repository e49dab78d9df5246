"""The SQLite backend: opens the file, migrates its schema, runs transactions."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from lineage.store.errors import (
    StoreDamagedError,
    StoreError,
    StoreSchemaError,
    StoreUnreachableError,
    StoreWriteError,
)
from lineage.store.exploring import Explorer, View
from lineage.store.graph.schema import SCHEMA_VERSION
from lineage.store.live_graph import LiveGraph, Version
from lineage.store.sqlite.connection import SqliteConnection, error_from, is_open_here
from lineage.store.sqlite.explorer import SqliteExplorer
from lineage.store.sqlite.files import APPLICATION, check_file, create, cut_log
from lineage.store.sqlite.live_graph import SqliteLiveGraph, record_change, version_of
from lineage.store.sqlite.locks import writer_of
from lineage.store.sqlite.log_file import is_cut, log_of
from lineage.store.sqlite.transaction import SqliteTransaction
from lineage.store.sqlite.upgrade import upgrade
from lineage.store.time_limit import interruptible

__all__ = ["SqliteBackend"]

_log = logging.getLogger(__name__)

T = TypeVar("T")

LOCK_SECONDS = 60.0
LOCK_TIMEOUT = "LINEAGE_LOCK_TIMEOUT"
"""The variable with the seconds that a writer waits for another one."""
_SILENT_SECONDS = 1.0
"""Time that a writer waits without saying so."""


class SqliteBackend:
    """A SQLite file. Any number of threads and processes read it, while one writes."""

    def __init__(
        self, path: Path, *, read_only: bool = False, lock_seconds: float | None = None, to_copy: bool = False
    ) -> None:
        """Open the file. It is created if missing. If an earlier version wrote it, it is copied and migrated.

        `to_copy` is for those who only read pages: these may be of an earlier version.

        Raises:
            StoreUnreachableError: it cannot be opened; see the subclasses.
            StoreDamagedError: it is damaged, or no lineage store.
            StoreSchemaError: a newer version of this program wrote it, or an earlier one, and it is only to be read.
        """
        self._path = path
        self._to_copy = to_copy
        self._read_only = read_only
        self._lock_seconds = _lock_seconds() if lock_seconds is None else lock_seconds
        self._closed = False
        self._idle: list[SqliteConnection] = []
        self._writer = threading.Lock()
        self._session: int | None = None
        self._last: int | None = None
        """The session that had written last when this one last looked."""
        self._is_disturbed = False
        check_file(path, read_only=read_only)
        log = log_of(path, is_open=is_open_here(path))
        try:
            if not path.exists():
                create(path)
            with self._connected() as connection:
                self._version = self._prepare(connection)
                self._last = _session_of(connection) if self._version else None
                if log is not None and is_cut(path, log, lambda: connection.frames):
                    connection.close_without_the_log()
                    raise cut_log(path)
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

    def graph_version(self) -> Version | None:
        """Return the version of what traversals follow."""
        return self._read(version_of)

    def live_graph(self, work: Callable[[LiveGraph], T], *, whole: bool = False) -> T:  # noqa: ARG002
        """Return the result of `work`, which reads the live graph of one committed state."""
        return self._read(lambda connection: work(SqliteLiveGraph(connection)))

    def _read(self, work: Callable[[SqliteConnection], T]) -> T:
        try:
            with self._connected() as connection, interruptible(connection.interrupt):
                connection.execute("BEGIN")
                try:
                    return work(connection)
                finally:
                    connection.rollback()
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
                    record_change(connection, transaction.touched)
                    connection.execute("COMMIT")
                except BaseException:
                    connection.rollback()
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
        silent = min(_SILENT_SECONDS, self._lock_seconds)
        connection.take_locks_for(silent)
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            left = self._lock_seconds - silent
            if not left:
                raise
            writer = writer_of(self._path) or "another process"
            _log.warning(
                "waiting for %s, which writes to %s, for at most %.0f s", writer, self._path, self._lock_seconds
            )
            connection.take_locks_for(left)
            connection.execute("BEGIN IMMEDIATE")

    def _number_session(self, connection: SqliteConnection) -> None:
        """Note that this session has written, and whether another one has since it last looked."""
        last = _session_of(connection)
        self._is_disturbed |= last != self._last
        if self._session is None or last != self._session:
            self._session = self._last = (last or 0) + 1
            statement = "INSERT OR REPLACE INTO meta (key, value) VALUES ('session', ?)"
            connection.execute(statement, (self._session,))

    def _prepare(self, connection: SqliteConnection) -> int:
        """Migrate the schema if it is older and may be written; return its version."""
        version = int(connection.value("PRAGMA user_version"))
        if int(connection.value("PRAGMA application_id")) != APPLICATION:
            raise StoreDamagedError(f"{self._path} is no lineage store", "name another path with --store")
        if version > SCHEMA_VERSION:
            raise StoreSchemaError(
                f"{self._path} has schema version {version}; this program supports up to {SCHEMA_VERSION}",
                "open it with the newer version of lineage-graph that wrote it",
            )
        if version == SCHEMA_VERSION or self._to_copy:
            return version
        if self._read_only:
            raise StoreSchemaError.older(str(self._path), version, SCHEMA_VERSION)
        self._begin(connection)
        version = int(connection.value("PRAGMA user_version"))
        if version == SCHEMA_VERSION:  # another process was faster
            connection.rollback()
        else:
            upgrade(self._path, connection, version, SCHEMA_VERSION)
        return SCHEMA_VERSION


def _session_of(connection: SqliteConnection) -> int | None:
    found: int | None = connection.value("SELECT value FROM meta WHERE key = 'session'")
    return found


def _lock_seconds() -> float:
    """Return how long a writer waits for another one.

    Raises:
        StoreError: the variable that says so has no number.
    """
    given = os.environ.get(LOCK_TIMEOUT, "")
    try:
        return float(given) if given else LOCK_SECONDS
    except ValueError:
        raise StoreError(f"{LOCK_TIMEOUT} must be a number of seconds, not {given!r}") from None
