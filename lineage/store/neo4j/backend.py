"""The Neo4j backend: connects, migrates the schema, runs transactions."""

from __future__ import annotations

import logging
import re
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial
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
from neo4j.time import Date

from lineage.store.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreTimeoutError,
    StoreUnreachableError,
    StoreWriteError,
)
from lineage.store.exploring import Explorer, View
from lineage.store.graph.backend import EndMissingError, Row
from lineage.store.graph.contents import Contents, contents_of, edges_held
from lineage.store.graph.schema import (
    LABELS,
    RELATIONSHIPS,
    SCHEMA_VERSION,
    Changes,
    Node,
    PropertyType,
    Relationship,
    by_kind,
)
from lineage.store.graph.statements import (
    NamedStatement,
    cypher,
    query,
    refresh_statement,
    scripts,
    seen_again_statements,
    write_statement,
)
from lineage.store.live_graph import LiveGraph, Version
from lineage.store.neo4j.commit_counters import begin_commit, end_commit, read_between_commits, read_one_state
from lineage.store.neo4j.explorer import Neo4jExplorer
from lineage.store.neo4j.live_graph import Neo4jLiveGraph, record_change, settled_version, touched_by
from lineage.store.planning.chunking.chunks import LOCK_STRIPES
from lineage.store.time_limit import seconds_left

__all__ = ["Neo4jBackend", "for_rows", "with_times"]

_log = logging.getLogger(__name__)

T = TypeVar("T")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

ROWS_AT_ONCE = 10_000
CONNECT_SECONDS = 5.0
AT_ONCE_SECONDS = 1.0
RETRY_SECONDS = 15.0
"""Time for retries of a transaction after a deadlock or another transient error."""

# One node per lock stripe, locked in this order. A writer that needs the whole graph locks all of them.
_ALL_STRIPES = range(LOCK_STRIPES)
_LOCKABLE = "CREATE CONSTRAINT meta_key IF NOT EXISTS FOR (n:Meta) REQUIRE n.key IS UNIQUE"
_ADD_TO_CONTENTS = "MERGE (m:Meta {key: $key}) SET " + ", ".join(
    f"m.{name} = (coalesce(m.{name}, 0) + ${name})" + (" % 4611686018427387904" if name == "fingerprint" else "")
    for name in Contents._fields
)
_LOCK_SCHEMA = "MERGE (m:Meta {key: 'migration'}) SET m.version = 0"
_LOCK = "UNWIND $keys AS key MATCH (m:Meta {key: key}) SET m.version = m.version RETURN count(m) AS locked"

_PARAMETER = re.compile(r"\$(\w+)")
# The driver takes 0.25 ms to encode or decode a datetime, so times are sent and received as numbers.
_PROPERTIES = {**LABELS, **{name: kind.properties for name, kind in RELATIONSHIPS.items()}}
_TIMES = {
    name: [one for one, of in properties.items() if of is PropertyType.TIME] for name, properties in _PROPERTIES.items()
}
_ALL_TIMES = frozenset(name for names in _TIMES.values() for name in names)
_TIME_PARAMETER = re.compile(rf"\$({'|'.join(sorted(_ALL_TIMES))})\b")
_ENTITY = re.compile(r"\b([en])(?=[,\s]|$)")


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

        def read() -> T:
            limited = neo4j.unit_of_work(timeout=seconds_left())
            return self._session_read(limited(lambda managed: work(Neo4jTransaction(managed))))

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
        """Return the result of `work` in a read transaction.

        A thread with a time limit does not wait for a server that is down: it tries once more at most, since what fails
        at once may be a connection from before a restart.
        """
        if seconds_left() is None:
            with self._driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
                return session.execute_read(work)
        began = time.monotonic()
        try:
            return self._read_once(work)
        except (ServiceUnavailable, SessionExpired):
            if time.monotonic() - began > AT_ONCE_SECONDS:
                raise
            return self._read_once(work)

    def _read_once(self, work: Callable[[ManagedTransaction], T]) -> T:
        # Below zero, the driver does not try again.
        with self._driver.session(default_access_mode=neo4j.READ_ACCESS, max_transaction_retry_time=-1.0) as session:
            return session.execute_read(work)

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


class Neo4jTransaction:
    """A transaction of the backend, between BEGIN and COMMIT."""

    def __init__(self, managed: ManagedTransaction, stripe: int = 0) -> None:
        """Take a transaction; a writer has locked the stripe, so that no other one counts what is in it."""
        self._managed = managed
        self._stripe = stripe
        self.has_changes = False
        self.touched: set[str] = set()
        """The keys of what traversals follow and this transaction has changed."""

    def read(self, statement: NamedStatement, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Run a statement for each row of parameters and return all result rows."""
        text = cypher(statement)
        answers: list[dict[str, Any]] = []
        seconds_left()  # the time limit may have ended between two statements
        if "LIMIT $" in text:
            # LIMIT applies per row, and must be a parameter, not an expression.
            results = (self._managed.run(_with_times_as_numbers(text), parameters=dict(row)) for row in rows)
        else:
            text, times = for_rows(text)
            parts = (rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE))
            results = (self._managed.run(text, rows=with_times(part, times)) for part in parts)
        for result in results:
            answers += ({name: _from_store(record[name]) for name in record.keys()} for record in result)  # noqa: SIM118
        return answers

    def write(self, changes: Changes) -> None:
        """Write the changes, in an order in which both ends of every relationship exist."""
        contents = contents_of(changes)
        self.touched |= touched_by(self._managed, changes)
        for kind, deleted in by_kind(changes.deleted_relationships):
            self._run("delete_relationship", kind, [{**_ends(one), **one.identity} for one in deleted])
        contents = contents.minus(self._edges_at(changes.deleted_nodes))
        for kind, nodes in by_kind(changes.deleted_nodes):
            self._run("delete_node", kind, [{"key": node.key} for node in nodes])
        for name, written in (("create_node", changes.created_nodes), ("update_node", changes.updated_nodes)):
            for kind, nodes in by_kind(written):
                self._run(name, kind, [{"key": node.key, **node.properties} for node in nodes])
        for kind, created in by_kind(changes.created_relationships):
            number = self._run("create_relationship", kind, [{**_ends(one), **one.properties} for one in created])
            if number < len(created):
                raise EndMissingError(f"{len(created) - number} relationships of {kind} have a missing node")
        for kind, updated in by_kind(changes.updated_relationships):
            self._run("update_relationship", kind, [{**_ends(one), **one.properties} for one in updated])
        refreshed: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for unit in changes.refreshed_units:
            refreshed[refresh_statement(unit.target_label, unit.type)].append(unit.row)
        for statement, rows in refreshed.items():
            self._run_rows(statement, rows)
        for statement in seen_again_statements() if changes.seen_again else ():
            self._run_rows(statement, [seen.row for seen in changes.seen_again])
        if any(contents):
            self._managed.run(_ADD_TO_CONTENTS, key=f"contents {self._stripe}", **contents._asdict()).consume()

    def _edges_at(self, nodes: Sequence[Node]) -> Contents:
        """Return the edges that are deleted with nodes."""
        ends = [(kind, of) for kind, of in by_kind(nodes) if kind[0] in ("Table", "Column")]
        rows = (self.read(query("edges_at", label=kind), [{"key": node.key} for node in of]) for kind, of in ends)
        return edges_held(row for found in rows for row in found)

    def _run(self, name: str, kind: tuple[str, ...], rows: list[dict[str, Any]]) -> int:
        label, *ends = kind
        return self._run_rows(write_statement(name, label, (ends[0], ends[1]) if ends else None), rows)

    def _run_rows(self, written_for_one: str, rows: list[dict[str, Any]]) -> int:
        """Run a statement for each row; return the number of relationships created."""
        self.has_changes |= bool(rows)
        (statement, times), created = for_rows(written_for_one), 0
        for start in range(0, len(rows), ROWS_AT_ONCE):
            sent = with_times(rows[start : start + ROWS_AT_ONCE], times)
            summary = self._managed.run(statement, rows=sent).consume()
            created += summary.counters.relationships_created
        return created


@lru_cache(maxsize=100_000)
def _moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


@lru_cache(maxsize=100_000)
def _seconds_and_nanoseconds(at: datetime) -> tuple[int, int]:
    since = at - EPOCH
    return since.days * 86_400 + since.seconds, since.microseconds * 1_000


@cache
def for_rows(statement: str) -> tuple[str, tuple[str, ...]]:
    """Return a statement for one row of parameters as one for many rows, and the parameters that are times."""
    statement = _with_times_as_numbers(statement)
    times = tuple(sorted(set(_TIME_PARAMETER.findall(statement))))
    made = r"CASE WHEN row.\1 IS NOT NULL THEN datetime.fromEpoch(row.\1[0], row.\1[1]) END"
    statement = _TIME_PARAMETER.sub(made, statement)
    return "UNWIND $rows AS row " + _PARAMETER.sub(r"row.\1", statement), times


@cache
def _with_times_as_numbers(statement: str) -> str:
    """Return a statement that returns nodes and relationships as maps, with times in microseconds since 1970."""
    head, returns, answer = statement.rpartition("RETURN ")

    def as_map(found: re.Match[str]) -> str:
        name = found.group(1)
        of = re.search(rf"[(\[]{name}:([\w|`]+)", statement)
        times = sorted(
            {time for kind in of.group(1).replace("`", "").split("|") for time in _TIMES[kind]} if of else ()
        )
        parts = [f"{name} {{.*", *([f"type: type({name})"] if name == "e" else [])]
        parts += (f"{time}: {name}.{time}.epochSeconds * 1000000 + {name}.{time}.microsecond" for time in times)
        return f"{', '.join(parts)}}} AS {name}"

    return head + returns + _ENTITY.sub(as_map, answer) if returns else statement


def with_times(rows: Sequence[Row], times: Sequence[str]) -> list[Row]:
    """Return the rows with times converted for `for_rows`."""
    if not times:
        return list(rows)
    return [{**row, **{name: _to_store(row[name]) for name in times}} for row in rows]


def _to_store(at: datetime | None) -> tuple[int, int] | None:
    return None if at is None else _seconds_and_nanoseconds(at)


def _ends(relationship: Relationship) -> dict[str, Any]:
    return {"source": relationship.source, "target": relationship.target}


def _from_store(value: Any) -> Any:
    if isinstance(value, dict):
        for name, part in value.items():
            if name in _ALL_TIMES:
                value[name] = None if part is None else _moment(part)
            elif isinstance(part, Date):
                value[name] = part.to_native()
    return value


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
