"""A transaction on ladybug. Most statements run once per key, which takes 0.1 ms.

Measured on 1,000,000 columns and 5,000,000 edges:
- One hop from 200 columns takes 45 ms key by key and 490 ms as `WHERE c.key IN $keys`; `UNWIND $keys` exceeds a buffer
  pool of 1 GiB. When the keys are many compared with the label's nodes, `batched_read` asks for all at once.
- UNWIND does use the index for nodes: reading 64 of 1,000,000 takes 0.27 ms, key by key 1.8 ms. Updating or deleting
  100 takes a sixth of the time.
- COPY is used where new rows are many compared with those that exist, because its commit rewrites tables. 50,000 nodes
  and as many edges take 1.5 s by COPY and 6.2 s by CREATE in an empty graph; 5,000 edges take 5.8 s and 0.9 s beside
  3,000,000 others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import ladybug

from lineage.store.cypher.backend import Row
from lineage.store.cypher.schema import (
    LABELS,
    NOT_LINEAGE,
    RELATIONSHIPS,
    SCHEMA_VERSION,
    Changes,
    Node,
    Properties,
    PropertyType,
    Refresh,
    Relationship,
    by_kind,
)
from lineage.store.cypher.statements import Statement, cypher, seen_again_statements, write_statement
from lineage.store.embedded.batched_reads import MANY_KEYS, SCANNED_PER_KEY, batched_read
from lineage.store.embedded.deferred_writes import (
    deferred_label,
    delete_deferred,
    from_pieces,
    read_deferred,
    to_pieces,
)
from lineage.store.embedded.projections import projection
from lineage.store.embedded.statements import Statements
from lineage.store.time_limit import seconds_left

__all__ = ["EmbeddedTransaction"]

COPY_FROM = 5_000
"""Minimum number of new nodes and relationships for COPY in an empty graph."""
COPY_SHARE = 0.01
"""Additional minimum per existing node or relationship."""

_OF_JOBS = ("READS", "WRITES")
"""Types of relationships that a job has to several datasets, at most one to each."""
_OBSERVED = "OBSERVED"
_BETWEEN = "\u0001"
"""Stands between two keys; no key contains it."""

ROWS_AT_ONCE = 1_000
"""Maximum number of nodes that one statement creates, updates or deletes."""

UNITS_AT_ONCE = 5_000
"""Maximum number of units that one statement refreshes: 2,000 take 1.4 s at once, and 6.5 s one by one."""

_AS_THEY_ARE = frozenset(("BOOL", "DATE", "DOUBLE", "INT64", "INT64[]", "STRING", "STRING[]"))
"""Types of ladybug whose values are as callers know them."""

_COUNTS = "MATCH (n) RETURN count(n) AS rows UNION ALL MATCH ()-[e]->() RETURN count(e) AS rows"


class EmbeddedTransaction:
    """A transaction of the backend, between BEGIN and COMMIT."""

    def __init__(self, statements: Statements, *, limited: bool = False, schema_version: int = SCHEMA_VERSION) -> None:
        """Create a transaction. If `limited`, statements are subject to `time_limit`.

        `schema_version` is the version of the graph, which may be older while it is migrated.
        """
        self._statements = statements
        self._limited = limited
        self._version = schema_version
        self.new_rows = 0
        """Number of nodes and relationships created."""
        self.new_lineage_rows = 0
        """Number of these that affect query plans."""
        self.changed_rows = 0
        """Number of nodes and relationships changed; ladybug keeps their old versions until a checkpoint."""
        self.rows_seen_again = 0
        """Number of jobs and datasets that were seen again, which count as well. What has changed is written next."""
        self.has_copied = False
        """Whether rows were copied in."""
        self.defers_writes = False
        """Whether there are deferred writes, which `write_deferred` writes in a separate transaction."""

    def read(self, statement: Statement, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Run a statement for each row of parameters and return all result rows."""
        text = cypher(statement)
        many = batched_read(text) if len(rows) > 1 else None
        if many is not None and many.pays(len(rows), lambda: self._statements.count(many.label)):
            return many.in_order(rows, self._answers(many.statement, list(many.parameters(rows))))
        return self._answers(text, rows)

    def _answers(self, statement: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
        projected = projection(statement) if self._version == SCHEMA_VERSION else None
        text = projected.statement if projected is not None else statement
        answers: list[dict[str, Any]] = []
        for row in rows:
            if self._limited:
                self._statements.limit(seconds_left())
            result = self._execute(text, row)
            names = result.get_column_names()
            found = _values(result)
            if projected is not None:
                answers += projected.rows(names, found)
            else:
                answers += (dict(zip(names, values, strict=True)) for values in found)
            result.close()
        return answers

    def write(self, changes: Changes) -> None:
        """Write the changes. If many rows are new, copy these in and defer the rest (see `deferred_writes`)."""
        new = len(changes.created_nodes) + len(changes.created_relationships)
        if self._are_many(new):
            self._write_copying(changes)
        else:
            self._write_logged(changes)
        # Buffered texts are looked up by key, so their number does not affect plans.
        of_lineage = new - sum(node.label in NOT_LINEAGE for node in changes.created_nodes)
        self._statements.note_new_rows(of_lineage)
        self.new_rows += new
        self.new_lineage_rows += of_lineage

    def write_deferred(self) -> None:
        """Write the deferred writes of an earlier transaction, if any."""
        pieces = [row["text"] for row in self._answers(read_deferred(self._version), [{}])]
        if pieces:
            self._write_logged(from_pieces(pieces, self._version))
            self._run(delete_deferred(self._version), {})

    def _write_copying(self, changes: Changes) -> None:
        for (label,), nodes in by_kind(changes.created_nodes):
            self._copy_nodes(label, nodes)
        for (name, *ends), relationships in by_kind(changes.created_relationships):
            self._copy_relationships(name, (ends[0], ends[1]), relationships)
        pieces = to_pieces(replace(changes, created_nodes=(), created_relationships=(), seen_units=()))
        if pieces:
            types = {"number": PropertyType.INTEGER, "text": PropertyType.TEXT}
            columns: dict[str, list[Any]] = {"number": list(range(len(pieces))), "text": pieces}
            self._copy(f"COPY {deferred_label(self._version)} FROM $rows", columns, types)
            self.defers_writes = True

    def _write_logged(self, changes: Changes) -> None:
        """Write the changes with statements, in an order in which both ends of every relationship exist."""
        for relationship in changes.deleted_relationships:
            self._change(relationship, "delete_relationship", relationship.identity)
        for (label,), nodes in by_kind(changes.deleted_nodes):
            self._delete_nodes(label, nodes)
        for (label,), nodes in by_kind(changes.created_nodes):
            self._create_nodes(label, nodes)
        for (label,), nodes in by_kind(changes.updated_nodes):
            self._update_nodes(label, nodes)
        self._create_relationships(changes.created_relationships)
        self._replace_relationships(changes.updated_relationships)
        self._refresh(changes.refreshed_units)
        for seen in changes.seen_again:
            for statement in seen_again_statements():
                names = (name for name in seen.row if f"${name}" in statement)
                self._run(statement, {name: seen.row[name] for name in names})
            self.rows_seen_again += len(seen.jobs) + len(seen.datasets)
        self.changed_rows += len(changes.updated_nodes) + len(changes.updated_relationships)
        self.changed_rows += sum(unit.relationships for unit in changes.refreshed_units)

    def _create_nodes(self, label: str, nodes: Sequence[Node]) -> None:
        """Create nodes in batches, which takes a fifth of the time."""
        for some in _in_parts(nodes):
            if len(some) == 1:
                self._run(write_statement("create_node", label), {"key": some[0].key, **some[0].properties})
                continue
            # ladybug requires the same order of properties in all rows.
            names = tuple(LABELS[label])
            self._run(write_statement("create_nodes", label), {"rows": _rows_of(some, names)})

    def _create_relationships(self, relationships: Iterable[Relationship]) -> None:
        """Create relationships; a run observes thousands of jobs alike, and these are created by one statement."""
        observed: dict[tuple[str, str], list[Relationship]] = defaultdict(list)
        for one in relationships:
            if one.type == _OBSERVED:
                observed[one.source, repr(one.properties)].append(one)
            else:
                self._change(one, "create_relationship", one.properties)
        for alike in observed.values():
            for start in range(0, len(alike), ROWS_AT_ONCE):
                some = alike[start : start + ROWS_AT_ONCE]
                row = {"source": some[0].source, "targets": [one.target for one in some], **some[0].properties}
                ends = (some[0].source_label, some[0].target_label)
                self._run(write_statement("create_relationships_to", _OBSERVED, ends), row)

    def _update_nodes(self, label: str, nodes: Sequence[Node]) -> None:
        """Set the changed properties only: all properties of a dataset take forty times as long as `last_seen`."""
        alike: dict[tuple[str, ...], list[Node]] = defaultdict(list)
        for node in nodes:
            alike[tuple(node.changed) or tuple(LABELS[label])].append(node)
        for only, group in alike.items():
            for some in _in_parts(group):
                if len(some) == 1:
                    row = {"key": some[0].key, **{name: some[0].properties[name] for name in only}}
                    self._run(write_statement("update_node", label, None, only), row)
                else:
                    self._run(write_statement("update_nodes", label, None, only), {"rows": _rows_of(some, only)})

    def _delete_nodes(self, label: str, nodes: Sequence[Node]) -> None:
        for some in _in_parts(nodes):
            if len(some) == 1:
                self._run(write_statement("delete_node", label), {"key": some[0].key})
            else:
                self._run(write_statement("delete_nodes", label), {"keys": [node.key for node in some]})

    def _replace_relationships(self, relationships: Iterable[Relationship]) -> None:
        """Replace relationships: those of jobs for many jobs at once, else all READS of a job.

        SET would damage others. At a checkpoint, ladybug 0.22 counts the first relationship that follows a run of 1,024
        nodes without any as one of that run, too. If it was SET, the relationships before it are moved, but of their
        properties only the one that was SET: the others are then those of other relationships, or NULL. What is created
        or deleted is moved whole (`CSRNodeGroup::collectPersistentUpdatesInRegion` in its sources).
        """
        of_jobs: dict[tuple[str, str, str], list[Relationship]] = defaultdict(list)
        others: list[Relationship] = []
        for one in relationships:
            # Deferred writes of an older version lack the properties that were added later.
            every = {**dict.fromkeys(RELATIONSHIPS[one.type].properties), **one.properties}
            whole = replace(one, properties=every)
            if one.type in _OF_JOBS:
                of_jobs[one.type, one.source_label, one.target_label].append(whole)
            else:
                self._change(one, "delete_relationship", one.identity)
                others.append(whole)
        for (name, *ends), alike in of_jobs.items():
            for start in range(0, len(alike), ROWS_AT_ONCE):
                others += self._replace_at_once(name, (ends[0], ends[1]), alike[start : start + ROWS_AT_ONCE])
        for one in others:
            self._change(one, "create_relationship", one.properties)

    def _scan_pays(self, label: str, keys: Collection[str]) -> bool:
        """Return whether a scan of a label's nodes is faster than looking up each key."""
        return len(keys) >= MANY_KEYS and self._statements.count(label) <= len(keys) * SCANNED_PER_KEY

    def _replace_at_once(
        self, name: str, ends: tuple[str, str], some: Sequence[Relationship]
    ) -> Sequence[Relationship]:
        """Replace relationships of which there is at most one between two nodes; return those only deleted so far."""
        sources: dict[str, list[str]] = defaultdict(list)
        for one in some:
            sources[one.source].append(one.target)
        if self._scan_pays(ends[0], sources) and all(all(one.properties.values()) for one in some):
            row: dict[str, Any] = {
                "sources": [*sources],
                "pairs": [f"{one.source}{_BETWEEN}{one.target}" for one in some],
                "between": _BETWEEN,
                **{each: [_to_store(one.properties[each]) for one in some] for each in RELATIONSHIPS[name].properties},
            }
            for statement in ("renew_relationships_of", "delete_other_relationships_of"):
                self._run(write_statement(statement, name, ends), row)
            return ()
        for source, targets in sources.items():
            self._run(write_statement("delete_relationships_to", name, ends), {"source": source, "targets": targets})
        return some

    def _refresh(self, units: Iterable[Refresh]) -> None:
        """Replace the relationships of units by those with the new `last_seen` (see `_replace_relationships`)."""
        groups: dict[tuple[str, tuple[str, str], datetime], list[Row]] = defaultdict(list)
        for unit in units:
            row = {"output": unit.output, "job": unit.job}
            for ends in RELATIONSHIPS[unit.type].ends:
                if ends[1] == unit.target_label and unit.source_label in ("", ends[0]):
                    groups[unit.type, ends, unit.last_seen].append(row)
        for (name, ends, last_seen), rows in groups.items():
            at_once = self._scan_pays("Table", {row["output"] for row in rows})
            size = UNITS_AT_ONCE if at_once else 1
            for start in range(0, len(rows), size):
                some = rows[start : start + size]
                given = {"units": some} if at_once else some[0]
                for way in ("renew_edges", "delete_older_edges"):
                    statement = f"{way}_to_{'dataset' if ends[1] == 'Table' else 'columns'}{'_of' if at_once else ''}"
                    self._run(write_statement(statement, name, ends), {**given, "last_seen": last_seen})

    def _execute(self, statement: str, row: Row) -> ladybug.QueryResult:
        return self._statements.run(statement, _row_to_store(row))

    def _run(self, statement: str, row: Row) -> None:
        self._execute(statement, row).close()

    def _change(self, relationship: Relationship, statement: str, properties: Row) -> None:
        ends = (relationship.source_label, relationship.target_label)
        row = {"source": relationship.source, "target": relationship.target, **properties}
        self._run(write_statement(statement, relationship.type, ends), row)

    def _are_many(self, new: int) -> bool:
        """Return whether COPY is faster for this number of new rows."""
        if new < COPY_FROM:
            return False
        there: int = sum(row["rows"] for row in self._answers(_COUNTS, [{}]))
        return new >= COPY_FROM + COPY_SHARE * there

    def _copy_nodes(self, label: str, nodes: list[Node]) -> None:
        columns = {"key": [node.key for node in nodes], **_columns([node.properties for node in nodes], LABELS[label])}
        self._copy(f"COPY `{label}` FROM $rows", columns, {"key": PropertyType.TEXT, **LABELS[label]})

    def _copy_relationships(self, name: str, ends: tuple[str, str], relationships: list[Relationship]) -> None:
        own = RELATIONSHIPS[name].properties
        columns = {
            "source": [one.source for one in relationships],
            "target": [one.target for one in relationships],
            **_columns([one.properties for one in relationships], own),
        }
        types = {"source": PropertyType.TEXT, "target": PropertyType.TEXT, **own}
        self._copy(f"COPY `{name}` FROM $rows (from = '{ends[0]}', to = '{ends[1]}')", columns, types)

    def _copy(self, statement: str, columns: dict[str, list[Any]], types: Properties) -> None:
        from lineage.store.embedded.arrow_tables import (  # noqa: PLC0415  most transactions copy nothing
            arrow_table,
            without_pandas,
        )

        self.has_copied = True
        rows = arrow_table(columns, types)
        with without_pandas():
            self._statements.run_once(statement, {"rows": rows}).close()


def _columns(rows: Sequence[Row], names: Iterable[str]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in names}


def _in_parts(nodes: Sequence[Node]) -> Iterator[Sequence[Node]]:
    return (nodes[start : start + ROWS_AT_ONCE] for start in range(0, len(nodes), ROWS_AT_ONCE))


def _rows_of(nodes: Iterable[Node], names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the nodes' properties of these names, in this order, and their keys."""
    return [{"key": one.key, **{name: _to_store(one.properties[name]) for name in names}} for one in nodes]


def _row_to_store(row: Row) -> dict[str, Any]:
    return {name: _to_store(value) for name, value in row.items()}


def _to_store(value: Any) -> Any:
    # ladybug's timestamps have no zone; ours are UTC.
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None)
    return list(value) if isinstance(value, tuple) else value


def _values(result: ladybug.QueryResult) -> Iterator[list[Any]]:
    """Return the rows of a result, with values as the store's callers know them."""
    others = [place for place, kind in enumerate(result.get_column_data_types()) if kind not in _AS_THEY_ARE]
    if not others:
        return iter(result)
    return (_with_values(values, others) for values in result)


def _with_values(values: list[Any], places: list[int]) -> list[Any]:
    for place in places:
        values[place] = _from_store(values[place])
    return values


def _from_store(value: Any) -> Any:
    if type(value) is datetime:
        return value.replace(tzinfo=UTC)
    if type(value) is not dict:
        return value
    # A node or a relationship; only a relationship has ends.
    properties = {
        name: part.replace(tzinfo=UTC) if type(part) is datetime else part
        for name, part in value.items()
        if name[0] != "_"
    }
    if "_SRC" in value:
        properties["type"] = value["_LABEL"]
    return properties
