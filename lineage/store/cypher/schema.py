"""The graph's labels, relationship types and their properties: what both stores keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

__all__ = [
    "LABELS",
    "RELATIONSHIPS",
    "MOVING_TIMES",
    "NOT_LINEAGE",
    "SCHEMA_VERSION",
    "Changes",
    "Node",
    "Properties",
    "PropertyType",
    "Refresh",
    "Relationship",
    "RelationshipType",
    "by_kind",
]

SCHEMA_VERSION = 18
"""The version that this program writes. Each `migrations/NNNN_*.cypher` of a store leads to version NNNN."""


class PropertyType(Enum):
    """What a property holds."""

    TEXT = "text"
    TEXTS = "texts"
    INTEGER = "integer"
    INTEGERS = "integers"
    NUMBER = "number"
    FLAG = "flag"
    TIME = "time"
    DAY = "day"


_TEXT, _TEXTS, _INTEGER, _FLAG, _TIME = (
    PropertyType.TEXT,
    PropertyType.TEXTS,
    PropertyType.INTEGER,
    PropertyType.FLAG,
    PropertyType.TIME,
)
Properties = Mapping[str, PropertyType]

_USERS: Properties = {
    "users": _TEXTS,
    "user_queries": PropertyType.INTEGERS,
    "other_users": _INTEGER,
    "other_queries": _INTEGER,
}

LABELS: Mapping[str, Properties] = {
    "Table": {
        "namespace": _TEXT,
        "name": _TEXT,
        "kind": _TEXT,
        "dialect": _TEXT,
        "schema_known": _FLAG,
        "aliases": _TEXTS,
        "first_seen": _TIME,
        "last_seen": _TIME,
        "dropped_at": _TIME,
        "search": _TEXT,
        "description": _TEXT,
        "tags": _TEXTS,
        "written_at": _TIME,
        "schema_at": _TIME,
        "kind_at": _TIME,
        "full_name": _TEXT,
        "spelling": _TEXT,
        "spelled_at": _TIME,
    },
    "Column": {
        "dataset": _TEXT,
        "path": _TEXT,
        "name": _TEXT,
        "data_type": _TEXT,
        "ordinal": _INTEGER,
        "inferred": _FLAG,
        "parent": _TEXT,
        "dropped_at": _TIME,
        "search": _TEXT,
        "description": _TEXT,
        "tags": _TEXTS,
        "aliases": _TEXTS,
        "first_seen": _TIME,
        "spelling": _TEXT,
        "last_ordinal": _INTEGER,
    },
    "Job": {
        "kind": _TEXT,
        "sql": _TEXT,
        "dialect": _TEXT,
        "operation": _TEXT,
        "source": _TEXT,
        "source_line": _INTEGER,
        "completeness": _TEXT,
        "first_seen": _TIME,
        "last_seen": _TIME,
        "retired_at": _TIME,
        "file_key": _TEXT,
        "positions": _TEXTS,
    },
    "Run": {
        "kind": _TEXT,
        "source": _TEXT,
        "at": _TIME,
        "last_seen": _TIME,
        "counts": _TEXT,
        "seconds": PropertyType.NUMBER,
        "complete_sources": _TEXTS,
    },
    "Change": {
        "kind": _TEXT,
        "dataset": _TEXT,
        "other": _TEXT,
        "at": _TIME,
        "replaced": _FLAG,
        "path": _TEXT,
        "remade": _FLAG,
        "spelling": _TEXT,
    },
    "Diagnostic": {
        "code": _TEXT,
        "severity": _TEXT,
        "message": _TEXT,
        "advice": _TEXT,
        "span_start": _INTEGER,
        "span_end": _INTEGER,
        "span_line": _INTEGER,
        "span_column": _INTEGER,
        "source": _TEXT,
        "job": _TEXT,
        "run": _TEXT,
        "last_seen": _TIME,
        "file_key": _TEXT,
    },
    "Usage": {
        "run": _TEXT,
        "day": PropertyType.DAY,
        "reads": _INTEGER,
        "writes": _INTEGER,
        **_USERS,
        "last_read": _TIME,
        "last_write": _TIME,
    },
    "Prune": {"older_than": _TIME, "at": _TIME},
    "Held": {"owner": _TEXT, "text": _TEXT, "parts": _TEXTS, "finished": _FLAG, "held_at": _TIME},
}
"""Every label with its properties beside `key`, which is unique within the label."""

NOT_LINEAGE = frozenset({"Held"})
"""Labels of what is only kept for a while, and has no part in a dump of the graph."""

MOVING_TIMES = frozenset({"written_at", "schema_at", "kind_at", "spelled_at"})
"""Times that decide what comes late, and move with each ingest. They have no part in a dump either."""

_COLUMN, _TABLE = ("Column", "Column"), ("Column", "Table")
_OF_ROWS = (("Table", "Table"), ("Table", "Column"))
"""What is decided by which rows a table has."""
_SEEN: Properties = {"first_seen": _TIME, "last_seen": _TIME}
_HELD: Properties = {"valid_from": _TIME, "valid_to": _TIME, "last_seen": _TIME}
_EDGE: Properties = {
    "job": _TEXT,
    "subtypes": _TEXTS,
    "masking": _FLAG,
    "limited": _FLAG,
    "ambiguous": _FLAG,
    "spans": _TEXTS,
}


@dataclass(frozen=True, slots=True)
class RelationshipType:
    """The pairs of labels that a type joins, its properties, and which of these tell two of the same ends apart."""

    ends: tuple[tuple[str, str], ...]
    properties: Properties = field(default_factory=dict)
    identity: tuple[str, ...] = ()


RELATIONSHIPS: Mapping[str, RelationshipType] = {
    "HAS_COLUMN": RelationshipType((("Table", "Column"),)),
    "HAS_FIELD": RelationshipType((_COLUMN,)),
    "CONTRIBUTES": RelationshipType((_COLUMN,), {**_EDGE, **_SEEN}, ("job",)),
    "CONTRIBUTED": RelationshipType((_COLUMN,), {**_EDGE, **_HELD}, ("job", "valid_from")),
    "REFERENCES": RelationshipType((_COLUMN, _TABLE, *_OF_ROWS), {**_EDGE, **_SEEN}, ("job",)),
    "REFERENCED": RelationshipType((_COLUMN, _TABLE, *_OF_ROWS), {**_EDGE, **_HELD}, ("job", "valid_from")),
    "FEEDS": RelationshipType((("Table", "Table"),), {"job": _TEXT, **_SEEN}, ("job",)),
    "FED": RelationshipType((("Table", "Table"),), {"job": _TEXT, **_HELD}, ("job", "valid_from")),
    "READS": RelationshipType((("Job", "Table"),), _SEEN),
    "WRITES": RelationshipType((("Job", "Table"),), {**_SEEN, "observations": _TEXTS}),
    "OBSERVED": RelationshipType((("Run", "Job"),), {"observations": _INTEGER, "duration_us": _INTEGER, **_USERS}),
    "REPORTED": RelationshipType((("Run", "Diagnostic"),)),
    "ABOUT": RelationshipType((("Diagnostic", "Job"),)),
    "OF": RelationshipType((("Usage", "Table"), ("Usage", "Column"))),
}


@dataclass(frozen=True, slots=True)
class Node:
    """A node as it is stored: every property of its label, those without a value as None."""

    label: str
    key: str
    properties: dict[str, Any]
    changed: tuple[str, ...] = field(default=(), compare=False)
    """Of a node to update: the properties that are others than before; none says that any may be."""

    @property
    def kind(self) -> tuple[str, ...]:
        """What one statement can write together."""
        return (self.label,)

    @property
    def id(self) -> tuple[object, ...]:
        """What no other node has."""
        return (self.label, self.key)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship as it is stored, between nodes that are named by label and key."""

    type: str
    source_label: str
    source: str
    target_label: str
    target: str
    properties: dict[str, Any]

    @property
    def kind(self) -> tuple[str, ...]:
        """What one statement can write together."""
        return (self.type, self.source_label, self.target_label)

    @property
    def identity(self) -> dict[str, Any]:
        """The properties that tell it apart from others of its type between the same nodes."""
        return {name: self.properties[name] for name in RELATIONSHIPS[self.type].identity}

    @property
    def id(self) -> tuple[object, ...]:
        """What no other relationship has."""
        return (*self.kind, self.source, self.target, *self.identity.values())


@dataclass(frozen=True, slots=True)
class Refresh:
    """A unit (a job and one output) whose live relationships of one kind were all stated again, as they were."""

    type: str
    target_label: str
    job: str
    output: str
    last_seen: datetime
    relationships: int

    @property
    def row(self) -> dict[str, Any]:
        """The parameters of the statement that writes it."""
        return {"job": self.job, "output": self.output, "last_seen": self.last_seen}


@dataclass(frozen=True, slots=True)
class Changes:
    """What to write, in one transaction, in the order of the fields. A deleted node takes its relationships along."""

    deleted_relationships: tuple[Relationship, ...] = ()
    deleted_nodes: tuple[Node, ...] = ()
    created_nodes: tuple[Node, ...] = ()
    updated_nodes: tuple[Node, ...] = ()
    created_relationships: tuple[Relationship, ...] = ()
    updated_relationships: tuple[Relationship, ...] = ()
    refreshed_units: tuple[Refresh, ...] = ()

    def joined(self, other: Changes) -> Changes:
        """Return both; no node or relationship may be in both."""
        return Changes(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


R = TypeVar("R", Node, Relationship)


def by_kind(records: Iterable[R]) -> Iterator[tuple[tuple[str, ...], list[R]]]:
    """Yield the records grouped by what one statement can write together, in a fixed order."""
    groups: dict[tuple[str, ...], list[R]] = {}
    for record in records:
        groups.setdefault(record.kind, []).append(record)
    yield from sorted(groups.items(), key=lambda group: group[0])
