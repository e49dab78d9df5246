"""A transaction on SQLite: it reads rows of statements, and writes changes by number."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any, TypeAlias

from lineage.model.names import dataset_of
from lineage.store.graph.backend import EndMissingError, Row
from lineage.store.graph.contents import contents_of, edges_held
from lineage.store.graph.graph_changes import touched
from lineage.store.graph.schema import (
    LABELS,
    RELATIONSHIPS,
    Changes,
    Node,
    Properties,
    PropertyType,
    Refresh,
    Relationship,
    SeenAgain,
    by_kind,
)
from lineage.store.graph.statements import NamedStatement, query
from lineage.store.planning.graph_state import EdgeType
from lineage.store.planning.observations import KEPT, TIME_SIZE
from lineage.store.sqlite.connection import SqliteConnection
from lineage.store.sqlite.statements import KINDS, sql, write_statement
from lineage.store.sqlite.stored_values import ENCODERS, parameter, to_microseconds
from lineage.store.time_limit import seconds_left

__all__ = ["SqliteTransaction"]

_Encode: TypeAlias = Callable[[Mapping[str, Any]], tuple[Any, ...]]
_Reference: TypeAlias = Mapping[str, tuple[str, str]]
"""Label and key of the other end, by the key of the node that refers to it."""

_OWN_TABLE = {
    "Table": "dataset", "Column": "dataset_column", "Job": "job", "Run": "run", "Change": "change",
    "Diagnostic": "diagnostic", "Usage": "usage_day", "Prune": "prune", "Tag": "tag",
    "BufferedText": "buffered_text",
}  # fmt: skip
_KEYS = {"Table": "node", "Column": "node", "Job": "job_key"}
"""The tables of keys of labels whose own table has none."""
_LINKS = {
    "READS": ("reads", "job", "dataset"),
    "WRITES": ("writes", "job", "dataset"),
    "OBSERVED": ("observed", "run", "job"),
}
"""The tables of relationships, and their columns for the two ends."""
_REFERENCES = {"REPORTED": ("diagnostic", "reported_by"), "ABOUT": ("diagnostic", "about"), "OF": ("usage_day", "node")}
"""Relationships that are a column of one of their ends."""
_OWNERS = {"REPORTED": "Diagnostic", "ABOUT": "Diagnostic", "OF": "Usage"}
"""The ends that have these columns."""
_PART_OF_NODE = frozenset({"HAS_COLUMN", "HAS_FIELD"})
"""Relationships that the columns' own rows say."""
_ORDER = {"Table": 0, "Column": 1, "Diagnostic": 3, "Usage": 3}
"""Tables are written before their columns, and deleted after them; what refers to others comes last."""
_OF_NODE: Mapping[str, tuple[str, ...]] = {
    "Table": (
        write_statement("delete_lineage_out_of"),
        write_statement("delete_lineage_into"),
        *(write_statement("delete_where", table=table, column="dataset") for table in ("reads", "writes")),
        write_statement("forget_where", table="usage_day", column="node"),
        write_statement("delete", table="node"),
    ),
    "Column": (
        write_statement("delete_lineage_out_of"),
        write_statement("delete_lineage_into"),
        write_statement("forget_where", table="usage_day", column="node"),
        write_statement("delete", table="node"),
    ),
    "Job": (
        *(write_statement("delete_where", table=table, column="job") for table in ("reads", "writes", "observed")),
        write_statement("forget_where", table="diagnostic", column="about"),
    ),
    "Run": (
        write_statement("delete_where", table="observed", column="run"),
        write_statement("forget_where", table="diagnostic", column="reported_by"),
    ),
}
"""What goes with a node that is deleted."""
_SEE_AGAIN = ("see_jobs_again", "see_read_datasets_again", "see_datasets_again")


class SqliteTransaction:
    """A transaction of the backend, between BEGIN and COMMIT."""

    def __init__(self, connection: SqliteConnection) -> None:
        self._connection = connection
        self._ids: dict[str, dict[str, int | None]] = defaultdict(dict)
        """The numbers of keys looked up so far, by the table that has them."""
        self._next: dict[str, int] = {}
        self.touched: set[str] = set()
        """The keys of what traversals follow and this transaction has changed."""

    def read(self, statement: NamedStatement, rows: Sequence[Row]) -> list[dict[str, Any]]:
        """Run a statement for each row of parameters and return all result rows."""
        text = sql(statement)
        if ":rows" in text:
            rows = [{"rows": json.dumps([*rows], ensure_ascii=False)}] if rows else []
        every = ({name: parameter(value) for name, value in row.items()} for row in rows)
        return self._connection.dictionaries(text, every, seconds_left())

    def write(self, changes: Changes) -> None:
        """Write the changes, in an order in which both ends of every relationship exist.

        Raises:
            EndMissingError: a node of a relationship does not exist.
        """
        contents = contents_of(changes)
        self.touched |= touched(changes)
        for (name, *_), deleted in by_kind(changes.deleted_relationships):
            self._delete_relationships(name, deleted)
        contents = contents.minus(edges_held(self._edges_at(changes.deleted_nodes)))
        for (label,), nodes in sorted(by_kind(changes.deleted_nodes), key=_last_tables):
            self._delete_nodes(label, nodes)
        new, others = _references_of_new(changes)
        for (label,), nodes in sorted(by_kind(changes.created_nodes), key=_first_tables):
            self._create_nodes(label, nodes, new)
        for (label,), nodes in by_kind(changes.updated_nodes):
            self._update_nodes(label, nodes)
        for created in (others, changes.updated_relationships):
            for (name, *_), relationships in by_kind(created):
                self._put_relationships(name, relationships)
        for unit in changes.refreshed_units:
            self._refresh(unit)
        for seen in changes.seen_again:
            self._see_again(seen)
        self._connection.execute_many(
            write_statement("add_to_contents"), [(name, n) for name, n in contents._asdict().items() if n]
        )

    def _edges_at(self, nodes: Sequence[Node]) -> list[dict[str, Any]]:
        """Return the edges that are deleted with nodes."""
        return self.read(query("edges_at"), [{"key": node.key} for node in nodes if _KEYS.get(node.label) == "node"])

    def _create_nodes(self, label: str, nodes: Sequence[Node], references: Mapping[str, _Reference]) -> None:
        own, keys = _OWN_TABLE[label], _KEYS.get(label)
        ids = self._new_ids(label, [node.key for node in nodes])
        encode = _encoder(label)
        if keys == "node":
            rows = [(ids[node.key], node.key, self._dataset_id(label, node.key, ids)) for node in nodes]
            self._connection.execute_many(write_statement("create_key"), rows)
        columns = ["id", *_stored(label)] if keys else ["id", "key", *_stored(label)]
        own_key = (lambda key: (ids[key],)) if keys else (lambda key: (ids[key], key))
        rows_of_label = ((*own_key(node.key), *encode(node.properties)) for node in nodes)
        of_label = [name for name in references if _OWNERS[name] == label]
        if of_label:
            columns += (_REFERENCES[name][1] for name in of_label)
            referred = [[self._referred(references[name].get(node.key)) for name in of_label] for node in nodes]
            rows_of_label = ((*row, *others) for row, others in zip(rows_of_label, referred, strict=True))
        statement = write_statement("create", table=own, **_listed(columns))
        self._connection.execute_many(statement, rows_of_label)

    def _referred(self, other: tuple[str, str] | None) -> int | None:
        return None if other is None else self._id(_KEYS.get(other[0]) or _OWN_TABLE[other[0]], other[1])

    def _dataset_id(self, label: str, key: str, ids: Mapping[str, int]) -> int:
        if label == "Table":
            return ids[key]
        return self._id("node", dataset_of(key))

    def _update_nodes(self, label: str, nodes: Sequence[Node]) -> None:
        table, stored = _KEYS.get(label) or _OWN_TABLE[label], _stored(label)
        alike: dict[tuple[str, ...], list[Node]] = defaultdict(list)
        for node in nodes:
            alike[tuple(one for one in node.changed or stored if one in stored)].append(node)
        for names, group in alike.items():
            if not names:
                continue
            encode = _encoder(label, names)
            assigned = ", ".join(f"{name} = ?" for name in names)
            self._connection.execute_many(
                write_statement("update", table=_OWN_TABLE[label], assigned=assigned),
                ((*encode(node.properties), self._find(table, node.key)) for node in group),
            )

    def _delete_nodes(self, label: str, nodes: Sequence[Node]) -> None:
        table = _KEYS.get(label) or _OWN_TABLE[label]
        ids = [(found,) for node in nodes if (found := self._find(table, node.key)) is not None]
        if table == "node":
            for row in ids:
                self.touched.update(key for (key,) in self._connection.execute(write_statement("neighbours"), row))
        for statement in (*_OF_NODE.get(label, ()), write_statement("delete", table=_OWN_TABLE[label])):
            self._connection.execute_many(statement, ids)
        if table != "job_key":  # the names of jobs stay: retired lineage may have them
            for node in nodes:
                self._ids[table].pop(node.key, None)

    def _put_relationships(self, name: str, relationships: Sequence[Relationship]) -> None:
        """Create relationships, or replace the properties of those that are there."""
        if name in _PART_OF_NODE:  # its dataset was looked up when the column was written
            return
        if name in KINDS:
            self._connection.execute_many(write_statement("put_lineage"), self._lineage_rows(name, relationships))
            return
        if name in _REFERENCES:
            table, column = _REFERENCES[name]
            rows = [self._reference(name, one) for one in relationships]
            self._connection.execute_many(write_statement("refer", table=table, column=column), rows)
            return
        table, source, target = _LINKS[name]
        names = tuple(RELATIONSHIPS[name].properties)
        encode = _encoder_of(RELATIONSHIPS[name].properties, names)
        self._connection.execute_many(
            write_statement("put", table=table, **_listed((source, target, *names))),
            [(*self._ends(one), *encode(one.properties)) for one in relationships],
        )

    def _delete_relationships(self, name: str, relationships: Sequence[Relationship]) -> None:
        if name in _PART_OF_NODE:
            return
        if name in KINDS:
            rows = [row[:5] for row in self._lineage_rows(name, relationships)]
            self._connection.execute_many(write_statement("delete_lineage"), rows)
        elif name in _REFERENCES:
            table, column = _REFERENCES[name]
            rows = [self._reference(name, one) for one in relationships]
            self._connection.execute_many(write_statement("refer_no_more", table=table, column=column), rows)
        else:
            table, source, target = _LINKS[name]
            rows = [self._ends(one) for one in relationships]
            statement = write_statement("delete_link", table=table, source=source, target=target)
            self._connection.execute_many(statement, rows)

    def _lineage_rows(self, name: str, edges: Iterable[Relationship]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of edges of one type: those of all edges of an ingest pass here, so it calls little."""
        number, nodes = KINDS[name], self._ids["node"]
        live = number <= len(EdgeType)
        begins = "first_seen" if live else "valid_from"
        for edge in edges:
            given = edge.properties
            get = given.get
            begin = _time_or_none(given[begins]) or 0
            yield (
                nodes.get(edge.source) or self._id("node", edge.source), number,
                nodes.get(edge.target) or self._id("node", edge.target), self._job_id(given["job"]),
                0 if live else begin, begin, None if live else _time_or_none(given["valid_to"]),
                _time_or_none(given["last_seen"]), get("masking"), get("limited"), get("ambiguous"),
                _texts_or_none(get("subtypes")), _texts_or_none(get("partly_masking")), _texts_or_none(get("spans")),
            )  # fmt: skip

    def _reference(self, name: str, one: Relationship) -> tuple[int, int]:
        source, target = self._ends(one)
        return (source, target) if name == "REPORTED" else (target, source)

    def _ends(self, one: Relationship) -> tuple[int, int]:
        source, target = (_KEYS.get(label) or _OWN_TABLE[label] for label in (one.source_label, one.target_label))
        return self._id(source, one.source), self._id(target, one.target)

    def _refresh(self, unit: Refresh) -> None:
        job, output = self._job_id(unit.job), self._find("node", unit.output)
        row = (to_microseconds(unit.last_seen), KINDS[unit.type], job, output)
        ends = "columns" if unit.target_label == "Column" else "dataset"
        self._connection.execute(write_statement(f"refresh_edges_to_{ends}"), row)

    def _see_again(self, seen: SeenAgain) -> None:
        given = {name: parameter(value) for name, value in seen.row.items()}
        for name in _SEE_AGAIN:
            self._connection.execute(write_statement(name, size=str(TIME_SIZE * (KEPT - 1))), given)

    def _new_ids(self, label: str, keys: Sequence[str]) -> dict[str, int]:
        table = _KEYS.get(label) or _OWN_TABLE[label]
        if table == "job_key":
            return {key: self._job_id(key) for key in keys}
        if table not in self._next:
            self._next[table] = int(self._connection.value(write_statement("next_id", table=table)))
        first = self._next[table]
        self._next[table] += len(keys)
        ids = dict(zip(keys, range(first, first + len(keys)), strict=True))
        self._ids[table].update(ids)
        return ids

    def _job_id(self, key: str) -> int:
        """Return the number of a job's key, also of a job of which there is nothing else."""
        number = self._find("job_key", key)
        if number is None:
            number = int(self._connection.value(write_statement("add_job_key"), (key,)))
            self._ids["job_key"][key] = number
        return number

    def _id(self, table: str, key: str) -> int:
        found = self._find(table, key)
        if found is None:
            raise EndMissingError(f"{key} is not in the graph")
        return found

    def _find(self, table: str, key: str) -> int | None:
        known = self._ids[table]
        if key not in known:
            known[key] = self._connection.value(write_statement("find", table=table), (key,))
        return known[key]


def _references_of_new(changes: Changes) -> tuple[dict[str, _Reference], Sequence[Relationship]]:
    """Return by type what new nodes refer to, which is written with them, and the other new relationships."""
    owners = {node.key for node in changes.created_nodes if node.label in _OWNERS.values()}
    if not owners:
        return {}, changes.created_relationships
    references: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    others: list[Relationship] = []
    for relationship in changes.created_relationships:
        if (
            relationship.type in _OWNERS
            and (relationship.source_label == _OWNERS[relationship.type])
            and relationship.source in owners
        ):
            references[relationship.type][relationship.source] = (relationship.target_label, relationship.target)
        elif (
            relationship.type in _OWNERS
            and relationship.target_label == _OWNERS[relationship.type]
            and relationship.target in owners
        ):
            references[relationship.type][relationship.target] = (relationship.source_label, relationship.source)
        else:
            others.append(relationship)
    return dict(references), others


def _listed(columns: Sequence[str]) -> dict[str, str]:
    return {"columns": ", ".join(columns), "places": ", ".join("?" * len(columns))}


def _first_tables(group: tuple[tuple[str, ...], Any]) -> int:
    return _ORDER.get(group[0][0], 2)


def _last_tables(group: tuple[tuple[str, ...], Any]) -> int:
    return -_ORDER.get(group[0][0], 2)


@cache
def _stored(label: str) -> tuple[str, ...]:
    """Return the properties that the table of a label has: the dataset of a column is in `node`."""
    return tuple(name for name in LABELS[label] if (label, name) != ("Column", "dataset"))


@cache
def _encoder(label: str, names: tuple[str, ...] | None = None) -> _Encode:
    return _encoder_of(LABELS[label], names or _stored(label))


def _encoder_of(types: Properties, names: Iterable[str]) -> _Encode:
    """Return a function from properties to the values that are stored, in the order of their names."""
    listed = tuple(names)
    get = itemgetter(*listed) if len(listed) > 1 else lambda row: (row[listed[0]],)
    encoders = [(place, ENCODERS[types[name]]) for place, name in enumerate(listed) if types[name] in ENCODERS]

    def encode(properties: Mapping[str, Any]) -> tuple[Any, ...]:
        values = list(get(properties))
        for place, one in encoders:
            if values[place] is not None:
                values[place] = one(values[place])
        return tuple(values)

    return encode


_list_to_text = ENCODERS[PropertyType.TEXTS]


def _time_or_none(at: datetime | None) -> int | None:
    return None if at is None else to_microseconds(at)


def _texts_or_none(texts: Sequence[str] | None) -> str | None:
    return None if texts is None else _list_to_text(texts)
