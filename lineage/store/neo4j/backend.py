"""The Neo4j backend: connects, migrates the schema, runs transactions."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any, TypeVar

import neo4j
from neo4j import ManagedTransaction, Transaction
from neo4j.exceptions import (
    AuthError,
    ClientError,
    ConfigurationError,
    ConstraintError,
    DriverError,
    Forbidden,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TransientError,
)

from lineage.store.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreTimeoutError,
    StoreUnreachableError,
    StoreWriteError,
)
from lineage.store.exploring import Explorer, View
from lineage.store.graph.schema import SCHEMA_VERSION
from lineage.store.graph.statements import query, scripts
from lineage.store.live_graph import LiveGraph, Version
from lineage.store.neo4j.commit_counters import begin_commit, end_commit, read_between_commits, read_one_state
from lineage.store.neo4j.explorer import Neo4jExplorer
from lineage.store.neo4j.live_graph import Neo4jLiveGraph, record_change, settled_version
from lineage.store.neo4j.transaction import EachAlone, Neo4jTransaction
from lineage.store.planning.chunking.chunks import LOCK_STRIPES
from lineage.store.time_limit import seconds_left

__all__ = ["Neo4jBackend"]

_log = logging.getLogger(__name__)

T = TypeVar("T")

CONNECT_SECONDS = 5.0
AT_ONCE_SECONDS = 1.0
RETRY_SECONDS = 15.0
"""Time for retries of a transaction after a deadlock or another transient error."""

# One node per lock stripe, locked in this order. A writer that needs the whole graph locks all of them.
_ALL_STRIPES = range(LOCK_STRIPES)
_LOCKABLE = "CREATE CONSTRAINT meta_key IF NOT EXISTS FOR (n:Meta) REQUIRE n.key IS UNIQUE"
_LOCK_SCHEMA = "MERGE (m:Meta {key: 'migration'}) SET m.version = 0"
_LOCK = "UNWIND $keys AS key MATCH (m:Meta {key: key}) SET m.version = m.version RETURN count(m) AS locked"


class Neo4jBackend:
    """A Neo4j database, accessed by Bolt."""

    def __init__(
        self,
        uri: str,
        login: tuple[str, str],
        *,
        read_only: bool = False,
        target_version: int = SCHEMA_VERSION,
    ) -> None:
        """Connect. The schema is created if missing, and migrated to `target_version` if older.

        Raises:
            StoreUnreachableError: no Neo4j answers at the address, or it refuses the login (StoreAccessError).
            StoreSchemaError: a newer version of this program wrote the graph.
        """
        self._uri = uri
        self._access = neo4j.READ_ACCESS if read_only else neo4j.WRITE_ACCESS
        self._driver = _connect(uri, login)
        try:
            self._version = self._migrate(target_version)
        except StoreError:
            self._driver.close()
            raise

    @property
    def address(self) -> str:
        """The address, without user and password."""
        return self._uri

    @property
    def schema_version(self) -> int:
        """The version of the graph's schema."""
        return self._version

    @property
    def last_session(self) -> int | None:
        """None: any number of processes write to it."""
        return None

    @property
    def is_file(self) -> bool:
        """False: a server has many writers."""
        return False

    def reading(self, work: Callable[[Neo4jTransaction], T]) -> T:
        """Return the result of `work`, which must not write."""

        def read_each_alone() -> T:
            with self._driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
                return work(Neo4jTransaction(EachAlone(session)))

        def read() -> T:
            if seconds_left() is not None:
                return self._twice(read_each_alone)
            return self._session_read(lambda managed: work(Neo4jTransaction(managed)))

        return self._explaining(StoreError, read)

    @property
    def reports_missing_ends(self) -> bool:
        """True: the server counts what it creates."""
        return True

    def writing(self, work: Callable[[Neo4jTransaction], T], stripes: Sequence[int] = ()) -> T:
        """Run `work` in a transaction, commit it and return its result; it is retried after a transient error."""

        def write(locks: Sequence[int]) -> T:
            has_marked = False

            def locked(managed: ManagedTransaction) -> T:
                nonlocal has_marked
                # Writers are serialized: each reads what it changes, and must see what the previous one wrote.
                keys = [f"lock stripe {number}" for number in locks]
                found = managed.run(_LOCK, keys=keys).single(strict=True)["locked"]
                if found != len(keys):
                    raise StoreSchemaError(
                        f"the graph at {self._uri} lacks {len(keys) - found} of the nodes that writers lock",
                        "another version of lineage-graph migrated it, or they were deleted: open the store again",
                    )
                transaction = Neo4jTransaction(managed, locks[0])
                result = work(transaction)
                if transaction.has_changes:
                    record_change(managed, locks[0], transaction.touched)
                    has_marked = True
                    begin_commit(self._run_alone, locks[0])
                return result

            try:
                with self._driver.session(default_access_mode=self._access) as session:
                    return session.execute_write(locked)
            finally:
                if has_marked:
                    # Readers do without it after a time, so a failure here says nothing about what was written.
                    with suppress(DriverError, Neo4jError):
                        end_commit(self._run_alone, locks[0])

        def write_in_stripes() -> T:
            if not stripes:
                return write(_ALL_STRIPES)
            try:
                return write(sorted(stripes))
            except (ConstraintError, TransientError):
                # Another stripe created the same node after a rename, or writers deadlocked until the retries ended.
                # Neither can happen with all stripes locked.
                return write(_ALL_STRIPES)

        def write_now() -> T:
            if seconds_left() is not None:  # writes are tried for long, so see first that the server is there
                self._session_read(lambda managed: managed.run("RETURN 1").consume())
            return write_in_stripes()

        return self._explaining(StoreWriteError, write_now)

    def close(self) -> None:
        """Close the connections. A second call does nothing."""
        self._driver.close()

    def exploring(self, work: Callable[[Explorer], T], view: View) -> T:
        """Return the result of `work`, which explores the graph."""

        def explore() -> T:
            @neo4j.unit_of_work(timeout=view.seconds_left)
            def within(managed: ManagedTransaction) -> T:
                with ExitStack() as opened:

                    def beside() -> Transaction:
                        session = opened.enter_context(self._driver.session(default_access_mode=neo4j.READ_ACCESS))
                        return opened.enter_context(session.begin_transaction(timeout=view.seconds_left))

                    return read_between_commits(managed, lambda: work(Neo4jExplorer(managed, beside, view)), view)

            return self._session_read(within)

        return self._explaining(StoreError, explore)

    def graph_version(self) -> Version | None:
        """Return the version of what traversals follow; None while a commit is applied."""

        def read() -> Version | None:
            with self._driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
                return settled_version(session)

        return self._explaining(StoreError, read)

    def live_graph(self, work: Callable[[LiveGraph], T], *, whole: bool = False) -> T:
        """Return the result of `work`, which reads the live graph of one committed state and may be retried.

        Reading the whole takes longer than writers pause: then what has changed since its version may be mixed in.
        """

        def read(managed: ManagedTransaction) -> T:
            if whole:
                return work(read_one_state(managed, lambda: Neo4jLiveGraph(managed)))
            return read_one_state(managed, lambda: work(Neo4jLiveGraph(managed)))

        return self._explaining(StoreError, lambda: self._session_read(read))

    def _session_read(self, work: Callable[[ManagedTransaction], T]) -> T:
        """Return the result of `work` in a read transaction."""
        retries: dict[str, Any] = (
            {} if seconds_left() is None else {"max_transaction_retry_time": -1.0}
        )  # below zero: none

        def read() -> T:
            with self._driver.session(default_access_mode=neo4j.READ_ACCESS, **retries) as session:
                return session.execute_read(work)

        return self._twice(read) if retries else read()

    def _twice(self, read: Callable[[], T]) -> T:
        """Return what is read, tried twice at most: a thread with a time limit does not wait for a server that is down.

        What fails at once may be a connection from before a restart.
        """
        began = time.monotonic()
        try:
            return read()
        except (ServiceUnavailable, SessionExpired):
            if time.monotonic() - began > AT_ONCE_SECONDS:
                raise
            return read()

    def _explaining(self, failure: type[StoreError], work: Callable[[], T]) -> T:
        try:
            return work()
        except (DriverError, Neo4jError) as error:
            raise _error_from(self._uri, error, failure) from error

    def _migrate(self, target_version: int) -> int:
        """Run the missing migrations, not if only to read, and return the version. Each migration is idempotent."""
        version = self._stored_version()
        if version > target_version:
            raise StoreSchemaError(
                f"the graph at {self._uri} has schema version {version}; this program supports up to {target_version}",
                "open it with the newer version of lineage-graph that wrote it",
            )
        if 0 < version < target_version and self._access == neo4j.READ_ACCESS:
            raise StoreSchemaError.older(f"the graph at {self._uri}", version, target_version)
        if version < target_version:
            if version:
                said = "the graph at %s is migrated from schema version %d to %d"
                _log.warning(said, self._uri, version, target_version)
            self._explaining(StoreWriteError, partial(self._migrate_alone, target_version))
        return target_version

    def _stored_version(self) -> int:
        rows = self.reading(lambda transaction: transaction.read(query("schema_version"), [{}]))
        return int(rows[0]["version"]) if rows else 0

    def _migrate_alone(self, target_version: int) -> None:
        """Run the missing migrations while no other process does.

        Neo4j does not allow changes of schema and data in one transaction, so a transaction beside them holds a lock:
        that of a node which it creates and takes back. The lock needs the constraint that the first migration creates.
        """
        with suppress(ClientError), self._driver.session() as session:  # another process has just created it
            session.execute_write(lambda managed: managed.run(_LOCKABLE).consume())
        with self._driver.session() as session, session.begin_transaction() as holding:
            holding.run(_LOCK_SCHEMA).consume()
            version = self._stored_version()
            for number, step in scripts("neo4j").items():
                if not version < number <= target_version:
                    continue
                for statement in step:
                    self._run_alone(statement)
            holding.rollback()

    def _run_alone(self, statement: str, **parameters: Any) -> None:
        with self._driver.session() as session:
            session.run(statement, parameters).consume()


def _connect(uri: str, login: tuple[str, str]) -> neo4j.Driver:
    driver = neo4j.GraphDatabase.driver(
        uri,
        auth=login,
        connection_timeout=CONNECT_SECONDS,
        connection_acquisition_timeout=4 * CONNECT_SECONDS,
        max_transaction_retry_time=RETRY_SECONDS,
        notifications_min_severity=neo4j.NotificationMinimumSeverity.OFF,
    )
    try:
        driver.verify_connectivity()
    except (DriverError, Neo4jError) as error:
        driver.close()
        raise _error_from(uri, error, StoreUnreachableError) from error
    return driver


def _error_from(uri: str, error: DriverError | Neo4jError, failure: type[StoreError]) -> StoreError:
    if isinstance(error, AuthError | Forbidden):
        return StoreAccessError(
            f"Neo4j at {uri} rejects the user or password",
            "set LINEAGE_NEO4J_USER and LINEAGE_NEO4J_PASSWORD, or put them into the address",
        )
    if isinstance(error, ServiceUnavailable | SessionExpired | ConfigurationError):
        hint = "is it running? `lineage neo4j start` starts a local server"
        return StoreUnreachableError(f"Neo4j does not answer at {uri}", hint, server="Neo4j")
    if isinstance(error, Neo4jError) and "TransactionTimedOut" in (error.code or ""):
        return StoreTimeoutError()
    if isinstance(error, Neo4jError) and "OutOfMemory" in (error.code or ""):
        return failure(
            f"Neo4j at {uri} has too little memory for this transaction",
            "increase server.memory.heap.max_size, or ingest in smaller parts",
        )
    return failure(f"Neo4j at {uri}: {error}")
