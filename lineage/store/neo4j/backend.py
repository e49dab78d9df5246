"""Neo4j as a backend: connecting, its schema, transactions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, TypeVar

import neo4j
from neo4j import ManagedTransaction
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DriverError,
    Forbidden,
    Neo4jError,
    ServiceUnavailable,
)
from neo4j.graph import Node as Neo4jNode
from neo4j.time import Date, DateTime

from lineage.store.backend import Row
from lineage.store.errors import (
    StoreAccessError,
    StoreError,
    StoreSchemaError,
    StoreUnreachableError,
    StoreWriteError,
)
from lineage.store.graph import RELATIONSHIPS, SCHEMA_VERSION, Changes, PropertyType, Relationship, by_kind
from lineage.store.queries import query, refresh_statement, scripts, write_statement

__all__ = ["Neo4jBackend"]

T = TypeVar("T")

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

ROWS_AT_ONCE = 10_000
CONNECT_SECONDS = 5.0
RETRY_SECONDS = 15.0
"""For how long a transaction is tried again after a deadlock or another transient error."""

_PARAMETER = re.compile(r"\$(\w+)")
# The driver takes a quarter of a millisecond to make a datetime; of relationships there are many.
_TIMES = frozenset(
    name for kind in RELATIONSHIPS.values() for name, of in kind.properties.items() if of is PropertyType.TIME
)
_TIMES_AS_NUMBERS = ", ".join(
    f"{name}: e.{name}.epochSeconds * 1000000 + e.{name}.microsecond" for name in sorted(_TIMES)
)
_RELATIONSHIP = re.compile(r", e$")
_HINT = re.compile(r"^HINT .*$", re.MULTILINE)


class Neo4jBackend:
    """A Neo4j database, by Bolt."""

    def __init__(
        self,
        uri: str,
        login: tuple[str, str],
        *,
        read_only: bool = False,
        target_version: int = SCHEMA_VERSION,
    ) -> None:
        """Connect; the schema is made, or migrated to `target_version`, where it is not there or older.

        Raises:
            StoreUnreachableError: no Neo4j answers at the address, or it refuses the login (StoreAccessError).
            StoreSchemaError: a newer version of this program wrote the graph.
        """
        self._uri = uri
        self._access = neo4j.READ_ACCESS if read_only else neo4j.WRITE_ACCESS
        self._driver = _connect(uri, login)
        try:
            self._version = self._brought_up_to(target_version)
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

    def reading(self, work: Callable[[Neo4jTransaction], T]) -> T:
        """Return what `work` returns, reading only."""
        return self._explaining(StoreError, lambda: self._session_read(work))

    def writing(self, work: Callable[[Neo4jTransaction], T]) -> T:
        """Return what `work` returns, committed; after a deadlock or another transient error it runs again."""

        def alone(managed: ManagedTransaction) -> T:
            # Writers take turns: each reads what it changes, and must see what the one before it wrote.
            managed.run("MATCH (m:Meta {key: 'schema'}) SET m.version = m.version").consume()
            return work(Neo4jTransaction(managed))

        def write() -> T:
            with self._driver.session(default_access_mode=self._access) as session:
                return session.execute_write(alone)

        return self._explaining(StoreWriteError, write)

    def close(self) -> None:
        """Close the connections. A second call does nothing."""
        self._driver.close()

    def _session_read(self, work: Callable[[Neo4jTransaction], T]) -> T:
        with self._driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
            return session.execute_read(lambda managed: work(Neo4jTransaction(managed)))

    def _explaining(self, failure: type[StoreError], work: Callable[[], T]) -> T:
        try:
            return work()
        except (DriverError, Neo4jError) as error:
            raise _explained(self._uri, error, failure) from error

    def _brought_up_to(self, target_version: int) -> int:
        """Take the migrations that are left; return the version. Each may run again after a crash."""
        rows = self.reading(lambda transaction: transaction.read(query("schema_version"), [{}]))
        version = int(rows[0]["version"]) if rows else 0
        if version > target_version:
            raise StoreSchemaError(
                f"the graph at {self._uri} has schema version {version}; this program knows {target_version}",
                "open it with the newer version of lineage-graph that wrote it",
            )
        steps = [one for number, one in scripts("neo4j").items() if version < number <= target_version]
        for statement in (statement for step in steps for statement in step):
            # Neo4j takes changes of schema and of data in separate transactions only.
            self._run_alone(statement)
        return target_version

    def _run_alone(self, statement: str) -> None:
        def run() -> None:
            with self._driver.session() as session:
                session.run(statement).consume()

        self._explaining(StoreWriteError, run)


class Neo4jTransaction:
    """What runs between a BEGIN and a COMMIT of the backend."""

    def __init__(self, managed: ManagedTransaction) -> None:
        self._managed = managed

    def read(self, statement: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Return what the statement answers for each row of parameters."""
        answers: list[dict[str, Any]] = []
        if "LIMIT $" in statement:
            # A limit is for one row, and may be a parameter only, no part of one.
            results = (self._managed.run(statement, parameters=dict(row)) for row in rows)
        else:
            parts = (rows[start : start + ROWS_AT_ONCE] for start in range(0, len(rows), ROWS_AT_ONCE))
            results = (self._managed.run(_for_rows(statement), rows=list(part)) for part in parts)
        for result in results:
            answers += ({name: _from_store(record[name]) for name in record.keys()} for record in result)  # noqa: SIM118
        return answers

    def write(self, changes: Changes) -> None:
        """Write the changes, in the order that keeps every end of a relationship there."""
        for kind, deleted in by_kind(changes.deleted_relationships):
            self._run("delete_relationship", kind, [{**_ends(one), **one.identity} for one in deleted])
        for kind, nodes in by_kind(changes.deleted_nodes):
            self._run("delete_node", kind, [{"key": node.key} for node in nodes])
        for name, written in (("create_node", changes.created_nodes), ("update_node", changes.updated_nodes)):
            for kind, nodes in by_kind(written):
                self._run(name, kind, [{"key": node.key, **node.properties} for node in nodes])
        for kind, created in by_kind(changes.created_relationships):
            self._run("create_relationship", kind, [{**_ends(one), **one.properties} for one in created])
        for kind, updated in by_kind(changes.updated_relationships):
            self._run("update_relationship", kind, [{**_ends(one), **one.properties} for one in updated])
        refreshed: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for unit in changes.refreshed_units:
            refreshed[refresh_statement(unit.type, unit.target_label)].append(unit.row)
        for statement, rows in refreshed.items():
            self._run_rows(statement, rows)

    def _run(self, name: str, kind: tuple[str, ...], rows: list[dict[str, Any]]) -> None:
        label, *ends = kind
        self._run_rows(write_statement(name, label, (ends[0], ends[1]) if ends else None), rows)

    def _run_rows(self, written_for_one: str, rows: list[dict[str, Any]]) -> None:
        statement = _for_rows(written_for_one)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            self._managed.run(statement, rows=rows[start : start + ROWS_AT_ONCE]).consume()


@lru_cache(maxsize=10_000)
def _moment(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


@cache
def _for_rows(statement: str) -> str:
    """Return the statement, written for one row of parameters, for many; hints to the other store's planner go."""
    statement = _RELATIONSHIP.sub(f", e {{.*, type: type(e), {_TIMES_AS_NUMBERS}}} AS e", statement)
    return "UNWIND $rows AS row " + _PARAMETER.sub(r"row.\1", _HINT.sub("", statement))


def _ends(relationship: Relationship) -> dict[str, Any]:
    return {"source": relationship.source, "target": relationship.target}


def _from_store(value: Any) -> Any:
    if isinstance(value, Neo4jNode):
        return {name: _from_store(part) for name, part in dict(value).items()}
    if isinstance(value, dict):
        return {name: _moment(part) if name in _TIMES and part is not None else part for name, part in value.items()}
    if isinstance(value, DateTime):
        return value.to_native().astimezone(UTC)
    return value.to_native() if isinstance(value, Date) else value


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
        raise _explained(uri, error, StoreUnreachableError) from error
    return driver


def _explained(uri: str, error: DriverError | Neo4jError, failure: type[StoreError]) -> StoreError:
    if isinstance(error, AuthError | Forbidden):
        return StoreAccessError(
            f"Neo4j at {uri} refuses user and password",
            "set LINEAGE_NEO4J_USER and LINEAGE_NEO4J_PASSWORD, or put them into the address",
        )
    if isinstance(error, ServiceUnavailable | ConfigurationError):
        return StoreUnreachableError(
            f"no Neo4j answers at {uri}", "is it running? `lineage neo4j start` starts a local one"
        )
    if isinstance(error, Neo4jError) and "OutOfMemory" in (error.code or ""):
        return failure(
            f"Neo4j at {uri} has too little memory for this in one transaction",
            "give it more (server.memory.heap.max_size), or ingest in smaller parts",
        )
    return failure(f"Neo4j at {uri}: {error}")
