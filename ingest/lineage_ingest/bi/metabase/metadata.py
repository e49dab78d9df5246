"""What Metabase's objects refer to: databases, tables, fields, cards, snippets, segments, by id or by portable name.

The API refers to objects by number; a serialization export by name (a list such as `[db, schema, table, field]`) or by
entity id. Both are keys here: a list becomes a tuple.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from lineage.frozen import frozen
from lineage_ingest.bi.connections import (
    BiConnection,
    ConnectionMap,
    default_schema,
    dialect_of_engine,
    server_namespace,
)
from lineage_ingest.bi.exported import slug
from lineage_ingest.bi.json_objects import objects_in
from lineage_ingest.bi.metabase.clauses import clauses_in, operator_of
from lineage_ingest.bi.metabase.mbql5 import as_legacy, is_mbql5

__all__ = [
    "CardReference",
    "FieldInfo",
    "MetabaseObjects",
    "ObjectId",
    "TableInfo",
    "as_id",
    "connection_of",
    "field_of",
    "identity_of",
]

ObjectId: TypeAlias = int | str | tuple[Any, ...]


_MAX_METRICS = 20
"""How many metrics can be made of each other."""


@frozen
class TableInfo:
    """A table: the id of its database, the parts of its name, the ids of its fields in order."""

    database: ObjectId
    parts: tuple[str, ...]
    fields: tuple[ObjectId, ...] = ()


@frozen
class FieldInfo:
    """A field: its table, its path (nested fields have several parts), the field that it is a foreign key to.

    `shown_as` is the field of another table whose value people see in its place.
    """

    table: ObjectId
    path: tuple[str, ...]
    target: ObjectId | None = None
    shown_as: ObjectId | None = None


@frozen
class CardReference:
    """A card as others refer to it: its key, its JSON, the id of its database."""

    key: str
    card: Mapping[str, Any]


@dataclass(slots=True)
class MetabaseObjects:
    """The objects of an export, by id."""

    databases: dict[ObjectId, BiConnection] = field(default_factory=dict)
    tables: dict[ObjectId, TableInfo] = field(default_factory=dict)
    fields: dict[ObjectId, FieldInfo] = field(default_factory=dict)
    cards: dict[ObjectId, CardReference] = field(default_factory=dict)
    snippets: dict[str, str] = field(default_factory=dict)
    segments: dict[ObjectId, Mapping[str, Any]] = field(default_factory=dict)
    metrics: dict[ObjectId, Mapping[str, Any]] = field(default_factory=dict)
    """Definitions of metrics that are no cards."""
    users: dict[ObjectId, str] = field(default_factory=dict)
    connections: ConnectionMap = field(default_factory=ConnectionMap)

    def connection(self, database: ObjectId | None) -> BiConnection:
        """Return the connection to a database, also to one that the export does not describe."""
        if database in self.databases:
            return self.databases[database]
        name = str(database) if database is not None else "(none)"
        return self.connections.apply(BiConnection((name,), is_known=False))

    def table(self, table: ObjectId) -> TableInfo | None:
        """Return a table; one that is named by its parts need not be described."""
        found = self.tables.get(table)
        if found is None and isinstance(table, tuple) and len(table) == 3:
            return TableInfo(str(table[0]), tuple(str(part) for part in table[1:] if part))
        return found

    def field(self, field_id: ObjectId) -> FieldInfo | None:
        """Return a field; one that is named by its parts need not be described."""
        found = self.fields.get(field_id)
        if found is None and isinstance(field_id, tuple) and len(field_id) >= 4:
            return FieldInfo(tuple(field_id[:3]), tuple(map(str, field_id[3:])))
        return found

    def columns_of(self, table: ObjectId) -> list[tuple[str, list[tuple[ObjectId, None]]]]:
        """Return the names of a table's columns in order, each with the id of its field; none if they are not known."""
        info = self.tables.get(table)
        if info is None:
            return []
        listed = ((one, self.fields[one]) for one in info.fields if one in self.fields)
        return [(known.path[0], [(one, None)]) for one, known in listed if len(known.path) == 1]

    def card(self, card_id: Any) -> CardReference | None:
        """Return a card by number, entity id, or the virtual table `card__12`."""
        if isinstance(card_id, str):
            card_id = card_id.removeprefix("card__")
            if card_id.isdigit():
                card_id = int(card_id)
        return self.cards.get(as_id(card_id))

    def query_of_metric(self, one: Any) -> Mapping[str, Any] | None:
        """Return the query of a metric, a card or an older definition, in the older form; None if it is not known."""
        definition = self.metrics.get(as_id(one))
        card = self.card(one) if definition is None else None
        if definition is None and card is not None:
            given = card.card.get("dataset_query")
            given = given if isinstance(given, Mapping) else {}
            definition = as_legacy(given) if is_mbql5(given) else given
        inner = definition.get("query", definition) if definition is not None else None
        return inner if isinstance(inner, Mapping) and clauses_in(inner.get("aggregation")) else None

    def without_metric(self, clause: Any, depth: int = 0) -> Any:
        """Return an aggregation; in place of a metric that which it aggregates, whose name its column has."""
        if operator_of(clause) != "metric" or len(clause) < 2 or depth > _MAX_METRICS:
            return clause
        query = self.query_of_metric(clause[1])
        return clause if query is None else self.without_metric(clauses_in(query["aggregation"])[0], depth + 1)

    def add_card(self, card: Mapping[str, Any]) -> CardReference:
        """Add a card under each of its ids, and return how others refer to it."""
        identity = identity_of(card)
        reference = CardReference(f"card/{identity}-{slug(str(card.get('name') or ''))}", card)
        for one in (card.get("id"), card.get("entity_id")):
            if one is not None:
                self.cards[as_id(one)] = reference
        return reference

    def add_metric(self, metric: Mapping[str, Any]) -> None:
        """Add a metric that is no card."""
        if metric.get("id") is not None:
            self.metrics[as_id(metric["id"])] = metric["definition"]

    def add_segment(self, segment: Mapping[str, Any]) -> None:
        """Add a segment under each of its ids."""
        for one in (segment.get("id"), segment.get("entity_id")):
            if one is not None:
                self.segments[as_id(one)] = segment

    def add_snippet(self, snippet: Mapping[str, Any]) -> None:
        """Add a snippet by its name."""
        self.snippets[str(snippet.get("name")).casefold()] = str(snippet.get("content") or "")

    def add_user(self, user: Mapping[str, Any]) -> None:
        """Add a user, of whom objects say the id."""
        if user.get("id") is not None:
            self.users[as_id(user["id"])] = str(user.get("email") or user.get("common_name") or "")


def field_of(one: Mapping[str, Any], table: ObjectId, path: tuple[str, ...]) -> FieldInfo:
    """Return the field that JSON or YAML describes."""
    target, shown = one.get("fk_target_field_id"), None
    given = one.get("dimensions")
    for dimension in objects_in([given] if isinstance(given, Mapping) else given):
        if dimension.get("type") == "external" and dimension.get("human_readable_field_id"):
            shown = as_id(dimension["human_readable_field_id"])
    return FieldInfo(table, path, as_id(target) if target is not None else None, shown)


def identity_of(one: Mapping[str, Any]) -> Any:
    """Return the id of an object of the API, the entity id of one of a serialization export; None if it has neither.

    >>> identity_of({"id": None, "entity_id": "abc"}), identity_of({"id": 7, "entity_id": "abc"})
    ('abc', 7)
    """
    return one.get("entity_id") if one.get("id") is None else one["id"]


def as_id(value: Any) -> ObjectId:
    """Return an id of the JSON as a key.

    >>> as_id(["Sample", None, "ORDERS"])
    ('Sample', None, 'ORDERS')
    """
    if isinstance(value, list | tuple):
        return tuple(as_id(part) if isinstance(part, list) else part for part in value)
    return value if isinstance(value, int | str) else str(value)


def connection_of(database: Mapping[str, Any], connections: ConnectionMap) -> BiConnection:
    """Return the connection that a database's JSON describes, with what the options say of it."""
    details = database.get("details")
    details = details if isinstance(details, Mapping) else {}
    engine = str(database.get("engine") or "")
    dialect = dialect_of_engine(engine)
    names = [str(one) for one in (database.get("name"), database.get("id")) if one is not None]
    host = details.get("account") if dialect == "snowflake" else details.get("host")
    namespace = server_namespace(dialect, str(host or ""), details.get("port"))
    own = next(
        (details[key] for key in ("dbname", "db", "catalog", "project-id", "service-name") if details.get(key)), None
    )
    found = BiConnection(
        tuple(names) or ("(none)",),
        dialect or "ansi",
        namespace,
        str(own) if own and dialect not in ("mysql", "clickhouse") else None,
        str(own) if own and dialect in ("mysql", "clickhouse") else default_schema(dialect),
        is_known=dialect is not None,
    )
    return connections.apply(found)
