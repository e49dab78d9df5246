"""The ladybug backend: opens the file, migrates its schema, runs transactions."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import ladybug

from lineage.store.cypher.rekeying import REKEYED, rekey
from lineage.store.cypher.schema import SCHEMA_VERSION
from lineage.store.cypher.statements import cypher, query, scripts
from lineage.store.embedded.deferred_writes import read_deferred
from lineage.store.embedded.explorer import EmbeddedExplorer
from lineage.store.embedded.log_space import has_room
from lineage.store.embedded.rwlock import ReadWriteLock
from lineage.store.embedded.statements import INTERRUPTED, Statements
from lineage.store.embedded.transaction import EmbeddedTransaction
from lineage.store.errors import (
    StoreAccessError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreSchemaError,
    StoreTimeoutError,
    StoreUnreachableError,
    StoreWriteError,
)
from lineage.store.exploring import Explorer, View
from lineage.store.time_limit import interruptible, seconds_left

__all__ = ["EmbeddedBackend"]

T = TypeVar("T")

BUFFER_POOL_BYTES = 1 << 30
"""ladybug's default is 80 % of the machine's memory."""

CHECKPOINT_AFTER = 4_000
"""Number of changed rows after which a checkpoint is made. Until then ladybug keeps the changes of each transaction
(about 60 KB for 20 rows), and later transactions search them. A checkpoint takes 0.1 s even in a small graph."""

VERSION_WITH_DEFERRED = 5

TIMES_OF_JOBS = (22, 23)
"""Schema versions since which what a job still reads, and writes, has no `last_seen`."""
_CHANGED_MEANING = (REKEYED, *TIMES_OF_JOBS)
"""Versions that changed what keys or times say: deferred writes of an earlier version are written before."""

_FULL = "Cannot write to file"
"""In ladybug's error when the disk is full, or the file may not grow."""
_KEPT: list[object] = []

_LOGGER = logging.getLogger(__name__)
_HOLDER = re.compile(r"held by PID (\d+)")

# In ladybug's error about a log whose last record is truncated.
_UNFINISHED = "Reading past the end of the file"
# In errors that are not about the log.
_NOT_OF_THE_LOG = (
    "Could not set lock",
    "not a valid",
    "Permission denied",
    "Read-only file system",
    "checkpoint recovery is pending",
)


class EmbeddedBackend:
    """A ladybug file, which one process may write.

    Its threads read concurrently, each with its own connection, and write one at a time.
    """

    def __init__(self, path: Path, *, read_only: bool = False, target_version: int = SCHEMA_VERSION) -> None:
        """Open the file. It is created if missing, and migrated to `target_version` if older.

        Raises:
            StoreUnreachableError: it cannot be opened; see the subclasses.
            StoreSchemaError: a newer version of this program wrote it.
        """
        self._path = path
        self._closed = False
        self._lock = ReadWriteLock()
        self._readers = _Readers()
        self._changed_rows = self._rows_seen_again = 0
        self._unwritten = False
        self._is_numbered = False
        self._database, self._statements = _open(path, read_only=read_only)
        try:
            self._version = self._stored_version()
            self._writes_are_deferred = self._version >= VERSION_WITH_DEFERRED and self._has_deferred_writes()
            if read_only and (self._version < target_version or self._writes_are_deferred):
                self._written_by_another(target_version)
            if self._version < target_version:
                changed = next((one for one in _CHANGED_MEANING if self._version < one), None)
                if self._writes_are_deferred and changed is not None:
                    self._migrate(min(target_version, changed - 1))
                    self._write_deferred()
                self._migrate(target_version)
            if self._writes_are_deferred:
                self._write_deferred()
        except StoreError:
            self.close()
            raise

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
        """True: the file is locked."""
        return True

    @property
    def last_session(self) -> int | None:
        """The number of the session that wrote last; None if none did since sessions have numbers."""
        with self._lock.reading():
            rows = self._statements.run_once(cypher(query("last_session"))).get_all() if not self._closed else []
        return int(rows[0][0]) if rows else None

    def reading(self, work: Callable[[EmbeddedTransaction], T]) -> T:
        """Return the result of `work`, which reads a consistent state of the graph."""
        return self._reading(
            lambda statements: work(EmbeddedTransaction(statements, limited=True, schema_version=self._version))
        )

    def exploring(self, work: Callable[[Explorer], T], view: View) -> T:
        """Return the result of `work`, which explores a consistent state of the graph."""
        return self._reading(lambda statements: work(EmbeddedExplorer(statements, view)))

    @property
    def reports_missing_ends(self) -> bool:
        """False: a MATCH that finds nothing creates nothing."""
        return False

    def writing(self, work: Callable[[EmbeddedTransaction], T], stripes: Sequence[int] = ()) -> T:  # noqa: ARG002
        """Run `work` in a transaction, commit it and return its result. Stripes are ignored.

        After an error nothing is stored, with one exception: if the new rows of a large batch were copied in and the
        disk failed on the deferred writes, the next transaction, or the next opening of the file, writes these first.
        """
        with self._lock.writing():
            if self._writes_are_deferred:
                self._write_deferred()
            if not self._is_numbered:  # in a transaction of its own: one that copies rows in may contain nothing else
                self._write(_number_session)
                self._is_numbered = True
            before = self._rows_seen_again
            answer = self._write(work)
            if self._writes_are_deferred:
                self._write_deferred()
            if self._changed_rows + before >= CHECKPOINT_AFTER:
                self._checkpoint()
            return answer

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        with self._lock.writing():
            if not self._closed:
                self._closed = True
                if self._unwritten:
                    # ladybug's destructor flushes the buffer of a failed write, and aborts the process if that fails.
                    # Without the destructor, the log is as after a kill: its last record was never committed.
                    self._keep_alive()
                    return
                self._readers.close()
                self._statements.close()
                self._database.close()

    def _reading(self, work: Callable[[Statements], T]) -> T:
        with (
            self._lock.reading(seconds_left()),
            self._explaining(StoreError),
            self._readers.one(self._database) as statements,
            interruptible(statements.interrupt),
        ):
            return _within("BEGIN TRANSACTION READ ONLY", statements, lambda: work(statements))

    def _write(self, work: Callable[[EmbeddedTransaction], T]) -> T:
        """Run `work` in a transaction and commit it. The caller holds the write lock."""
        transaction = EmbeddedTransaction(self._statements, schema_version=self._version)
        try:
            with self._explaining(StoreWriteError):
                answer = _within("BEGIN TRANSACTION", self._statements, lambda: self._work(work, transaction))
            self._unwritten = False
            self._writes_are_deferred |= transaction.defers_writes
            self._changed_rows += transaction.changed_rows
            self._rows_seen_again += transaction.rows_seen_again
            self._readers.note_new_rows(transaction.new_lineage_rows)
            return answer
        finally:
            if transaction.has_copied:
                with contextlib.suppress(RuntimeError):  # without room for a new connection, the old one is kept
                    self._statements.renew()

    def _work(self, work: Callable[[EmbeddedTransaction], T], transaction: EmbeddedTransaction) -> T:
        """Return the result of `work`, after checking that its changes fit on the disk."""
        answer = work(transaction)
        rows = transaction.new_rows + transaction.changed_rows + transaction.rows_seen_again
        if rows and not has_room(_log_of(self._path), rows):
            raise self._full()
        return answer

    def _full(self) -> StoreFullError:
        return StoreFullError(
            f"{self._path}: the disk is full, or the file may not grow: nothing of this was stored",
            f"free space in {self._path.parent.absolute()}, then try again",
        )

    def _write_deferred(self) -> None:
        self._write(EmbeddedTransaction.write_deferred)
        self._writes_are_deferred = False

    def _checkpoint(self) -> None:
        """Make a checkpoint. The caller holds the write lock; a checkpoint would wait for readers of older states.

        Writes are durable without it, so a failed checkpoint is retried after the same number of changes.
        """
        self._changed_rows = self._rows_seen_again = 0
        try:
            self._statements.run_once("CHECKPOINT").close()
        except RuntimeError as error:
            _LOGGER.warning("%s: checkpoint failed: %s", self._path, error)

    @contextlib.contextmanager
    def _explaining(self, failure: type[StoreError]) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            if INTERRUPTED in str(error):
                raise StoreTimeoutError from error
            if _FULL in str(error):
                self._unwritten = True
                raise self._full() from error
            raise failure(f"{self._path}: {error}") from error

    def _keep_alive(self) -> None:
        """Keep the database until the process ends, beyond the end of the interpreter."""
        kept = (self._database, self._statements, self._readers)
        _KEPT.append(kept)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))

    def _stored_version(self) -> int:
        tables = {row[1] for row in self._statements.run_once("CALL show_tables() RETURN *").get_all()}
        if not tables:
            return 0
        if "Meta" not in tables:
            raise StoreUnreachableError(
                f"{self._path} is a database of another program", "choose another path with --store"
            )
        [[version]] = self._statements.run_once(cypher(query("schema_version"))).get_all()
        if version > SCHEMA_VERSION:
            raise StoreSchemaError(
                f"{self._path} has schema version {version}; this program supports up to {SCHEMA_VERSION}",
                "open it with the newer version of lineage-graph that wrote it",
            )
        return int(version)

    def _has_deferred_writes(self) -> bool:
        return bool(self._statements.run_once(read_deferred(self._version)).get_num_tuples())

    def _written_by_another(self, target_version: int) -> None:
        """Run migrations and deferred writes in a writing backend, since this one is read-only; reopen the file."""
        self._statements.close()
        self._database.close()
        EmbeddedBackend(self._path, target_version=target_version).close()
        self._database, self._statements = _open(self._path, read_only=True)
        self._version, self._writes_are_deferred = target_version, False

    def _migrate(self, target_version: int) -> None:
        """Run all missing migrations in one transaction."""

        def work(transaction: EmbeddedTransaction) -> None:
            for version, statements in scripts("embedded").items():
                if self._version < version <= target_version:
                    for statement in statements:
                        self._statements.run_once(statement)
            if 0 < self._version < REKEYED <= target_version:
                rekey(transaction)

        self._write(work)
        self._version = target_version
        # Schema changes must not stay in the log: ladybug crashes on some of them if the log is damaged.
        self._checkpoint()


def _number_session(transaction: EmbeddedTransaction) -> None:
    """Store a new number: whoever finds another one than its own knows that someone else has written."""
    transaction.read(query("number_session"), [{"number": secrets.randbits(62)}])


def _open(path: Path, *, read_only: bool) -> tuple[ladybug.Database, Statements]:
    _check_path(path, read_only=read_only)
    try:
        return _connect(path, read_only=read_only)
    except RuntimeError as error:
        if read_only and "checkpoint recovery is pending" in str(error):
            database, statements = _open(path, read_only=False)
            statements.close()
            database.close()
            return _open(path, read_only=True)
        raise _error_from(path, str(error)) from error


class _Readers:
    """Connections for reading, created on demand and kept with their prepared statements."""

    def __init__(self) -> None:
        self._idle: list[Statements] = []

    @contextlib.contextmanager
    def one(self, database: ladybug.Database) -> Iterator[Statements]:
        """Reserve a connection for the block."""
        try:
            statements = self._idle.pop()
        except IndexError:
            statements = Statements(database)
        try:
            yield statements
        finally:
            statements.limit(None)
            self._idle.append(statements)

    def note_new_rows(self, rows: int) -> None:
        """Count created rows."""
        for statements in self._idle:
            statements.note_new_rows(rows)

    def close(self) -> None:
        """Close the connections; none may be in use."""
        while self._idle:
            self._idle.pop().close()


def _within(begin: str, statements: Statements, work: Callable[[], T]) -> T:
    """Run `work` in a transaction, commit it and return its result."""
    done = False
    try:
        statements.run_once(begin)
        answer = work()
        statements.limit(None)
        statements.run_once("COMMIT")
        done = True
    finally:
        if not done:
            # A failed statement has already ended the transaction.
            statements.limit(None)
            with contextlib.suppress(RuntimeError):
                statements.run_once("ROLLBACK")
    return answer


def _connect(path: Path, *, read_only: bool) -> tuple[ladybug.Database, Statements]:
    """Open the file and replay its log as far as it is readable; an unreadable log is kept, with a warning.

    A killed process leaves a truncated last record, which was never committed. The log then ends too early
    or, if the system wrote later pages first, has a wrong checksum, like other damage.
    """

    def opened(*, strictly: bool) -> ladybug.Database:
        return ladybug.Database(
            path, buffer_pool_size=BUFFER_POOL_BYTES, read_only=read_only, throw_on_wal_replay_failure=strictly
        )

    try:
        database = opened(strictly=True)
    except (RuntimeError, MemoryError) as error:  # a damaged length field may cause a huge allocation
        if _UNFINISHED not in str(error):
            if not _log_of(path).exists() or any(text in str(error) for text in _NOT_OF_THE_LOG):
                raise
            # A wrong checksum or invalid content; ladybug has many messages for that.
            _keep_log(path, read_only=read_only)
        database = opened(strictly=False)
    return database, Statements(database)


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + ".wal")


def _keep_log(path: Path, *, read_only: bool) -> None:
    """Warn that the end of the log is ignored; keep a copy before a writer cuts it off."""
    log = _log_of(path)
    message = (
        "the end of %s cannot be read and is left out: a process was killed while it wrote, or the file is damaged"
    )
    if read_only:
        _LOGGER.warning(message, log)
        return
    kept = log.with_name(f"{log.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
    shutil.copyfile(log, kept)
    _LOGGER.warning(message + "; it is kept as %s; ingest again what is missing", log, kept.name)


def _check_path(path: Path, *, read_only: bool) -> None:
    elsewhere = "name another path with --store or LINEAGE_STORE"
    if path.is_dir():
        raise StoreUnreachableError(f"{path} is a folder, not a store", elsewhere)
    if not path.exists():
        if read_only:
            raise StoreUnreachableError(f"there is no store at {path}", f"ingest something first, or {elsewhere}")
        if not path.parent.is_dir():
            raise StoreUnreachableError(f"there is no folder {path.parent}", f"make it, or {elsewhere}")
        if not os.access(path.parent, os.W_OK | os.X_OK, effective_ids=True):
            raise StoreAccessError(f"no permission to make {path}", f"ask for it, or {elsewhere}")
    elif not os.access(path, os.R_OK if read_only else os.R_OK | os.W_OK, effective_ids=True):
        raise StoreAccessError(
            f"no permission to {'read' if read_only else 'write'} {path}", f"ask for it, or {elsewhere}"
        )


def _error_from(path: Path, message: str) -> StoreUnreachableError:
    if "Could not set lock" in message:
        holder = _HOLDER.search(message)
        by = f"process {holder.group(1)}" if holder else "another process"
        return StoreLockedError(
            f"{path} is being written by {by}",
            "wait for it or stop it; if it is `lineage serve`, connect to it: --store http://HOST:PORT",
        )
    if "not a valid" in message:
        return StoreUnreachableError(f"{path} is not a store", "choose another path with --store or LINEAGE_STORE")
    if "Reading past the end of the file" in message:
        size = f"{path.stat().st_size:,} bytes" if path.exists() else "it"
        return StoreUnreachableError(
            f"{path} is not a store, or the end of it is missing ({size})",
            "choose another path with --store or LINEAGE_STORE, or restore the file",
        )
    if "Permission denied" in message or "Read-only file system" in message:
        return StoreAccessError(f"no permission on {path}", "get permission, or choose another path with --store")
    return StoreUnreachableError(f"{path} cannot be opened: {message}")
