"""A transaction of Neo4j, and the statements for one row of parameters run for many."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, LiteralString

import neo4j
from neo4j.time import Date

from lineage.store.graph.backend import EndMissingError, Row
from lineage.store.graph.contents import Contents, contents_of, edges_held
from lineage.store.graph.schema import LABELS, RELATIONSHIPS, Changes, Node, PropertyType, Relationship, by_kind
from lineage.store.graph.statements import (
    NamedStatement,
    cypher,
    query,
    refresh_statement,
    seen_again_statements,
    write_statement,
)
from lineage.store.neo4j.live_graph import Statements, touched_by
from lineage.store.time_limit import seconds_left

__all__ = ["EachAlone", "Neo4jTransaction", "for_rows", "with_times"]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

ROWS_AT_ONCE = 10_000

_ADD_TO_CONTENTS = "MERGE (m:Meta {key: $key}) SET " + ", ".join(
    f"m.{name} = (coalesce(m.{name}, 0) + ${name})" + (" % 4611686018427387904" if name == "fingerprint" else "")
    for name in Contents._fields
)

_PARAMETER = re.compile(r"\$(\w+)")
# The driver takes 0.25 ms to encode or decode a datetime, so times are sent and received as numbers.
_PROPERTIES = {**LABELS, **{name: kind.properties for name, kind in RELATIONSHIPS.items()}}
_TIMES = {
    name: [one for one, of in properties.items() if of is PropertyType.TIME] for name, properties in _PROPERTIES.items()
}
_ALL_TIMES = frozenset(name for names in _TIMES.values() for name in names)
_TIME_PARAMETER = re.compile(rf"\$({'|'.join(sorted(_ALL_TIMES))})\b")
_ENTITY = re.compile(r"\b([en])(?=[,\s]|$)")


class EachAlone:
    """Runs each statement that reads in a transaction of its own: in one round trip to the server instead of three.

    Neo4j isolates them as much as in a common one: each sees what was committed before it ("read committed").
    """

    def __init__(self, session: neo4j.Session) -> None:
        self._session = session

    def run(self, query: LiteralString, parameters: dict[str, Any] | None = None, **named: Any) -> neo4j.Result:
        """Run a statement within the time limit."""
        return self._session.run(neo4j.Query(query, timeout=seconds_left()), parameters, **named)


class Neo4jTransaction:
    """A transaction of the backend, between BEGIN and COMMIT."""

    def __init__(self, managed: Statements, stripe: int = 0) -> None:
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
