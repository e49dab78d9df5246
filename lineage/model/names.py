"""Names of tables and columns: their parts, their text, and the keys that nodes of the graph are found by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lineage.model.dialects import Dialect
from lineage.model.namespaces import normal_namespace, normal_place

__all__ = [
    "Naming",
    "column_key",
    "dataset_key",
    "format_name",
    "parse_column_name",
    "parse_table_name",
    "split_column_key",
    "split_location",
    "split_name",
]

_PLAIN = re.compile(r"[^.\"`\[\]\s]+")
# BigQuery: date-sharded tables share a prefix and differ by a day, YYYYMMDD.
_SHARD = re.compile(r"^(.+?)_?(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$")
# … and a wildcard over some of them, `events_2024*`.
_SHARDS = re.compile(r"^(.+?)_?(?:19|20)\d{0,6}\*$")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/]+)/?(.*)", re.DOTALL)
_PART = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[([^\]]*)\]|([^."`\[\]]+)')


def format_name(parts: Sequence[str]) -> str:
    """Return the parts as one dotted name; a part that holds a dot, a quote or a space is quoted.

    >>> format_name(["shop", "order items"])
    'shop."order items"'
    """
    if all(_PLAIN.fullmatch(part) for part in parts):
        return ".".join(parts)
    return ".".join(part if _PLAIN.fullmatch(part) else '"' + part.replace('"', '""') + '"' for part in parts)


def split_name(name: str) -> list[tuple[str, bool]]:
    """Return the parts of a dotted name, each with whether it was quoted (with `"`, backticks or brackets).

    >>> split_name('shop."Order.Items".id')
    [('shop', False), ('Order.Items', True), ('id', False)]
    """
    parts: list[tuple[str, bool]] = []
    for match in _PART.finditer(name):
        double, back, bracket, plain = match.groups()
        if plain is not None:
            parts.append((plain.strip(), False))
        elif double is not None:
            parts.append((double.replace('""', '"'), True))
        else:
            parts.append((back.replace("``", "`") if back is not None else bracket, True))
    return parts


def parse_table_name(name: str, dialect: Dialect) -> tuple[str, ...]:
    """Return the parts of a table name that a person typed, folded as the dialect folds them.

    >>> from lineage.model.dialects import dialect_named
    >>> parse_table_name('Shop."Orders"', dialect_named("postgres"))
    ('shop', 'Orders')
    """
    return tuple(dialect.fold_table(part, quoted=quoted) for part, quoted in split_name(name))


def parse_column_name(name: str, dialect: Dialect) -> tuple[tuple[str, ...], str]:
    """Return the table's parts and the column of a dotted `table.column` that a person typed.

    >>> from lineage.model.dialects import dialect_named
    >>> parse_column_name("Shop.Orders.Amount", dialect_named("snowflake"))
    (('SHOP', 'ORDERS'), 'AMOUNT')
    """
    *table, (column, quoted) = split_name(name)
    folded = tuple(dialect.fold_table(part, quoted=was_quoted) for part, was_quoted in table)
    return folded, dialect.fold_column(column, quoted=quoted)


@dataclass(frozen=True, slots=True)
class Naming:
    """The dialect, and what fills in the parts that a name leaves out.

    `namespace` is OpenLineage's (`postgres://host:port`, `bigquery`, …); without one, the dialect's name stands in.
    `session_tables` are temporary tables (bare and full name) that a session finds whatever its default schema is.
    """

    dialect: Dialect
    namespace: str = ""
    default_database: str | None = None
    default_schema: str | None = None
    session_tables: tuple[tuple[str, str], ...] = ()

    @property
    def dataset_namespace(self) -> str:
        """The namespace that datasets get: the one given, in its normal spelling, or the dialect's name."""
        return normal_namespace(self.namespace) if self.namespace else self.dialect.name

    def qualify(self, parts: Sequence[str]) -> str:
        """Return the full dotted name of a table whose (already folded) parts are given, outermost first.

        A database is only filled in where there is a schema to put it before. BigQuery's date shards become
        one table, `events_20240101` → `events_*`.

        >>> from lineage.model.dialects import dialect_named
        >>> Naming(dialect_named("postgres"), default_database="db", default_schema="shop").qualify(["orders"])
        'db.shop.orders'
        >>> Naming(dialect_named("bigquery")).qualify(["web", "events_20240131"])
        'web.events_*'
        """
        filled = list(parts)
        if len(filled) == 1 and self.session_tables:
            for bare, full in self.session_tables:
                if bare == filled[0]:
                    return full
        if len(filled) == 1 and self.default_schema:
            filled.insert(0, self.default_schema)
        if len(filled) == 2 and self.default_database:
            filled.insert(0, self.default_database)
        if (
            filled
            and self.dialect.name == "bigquery"
            and (shard := _SHARD.match(filled[-1]) or _SHARDS.match(filled[-1]))
        ):
            filled[-1] = f"{shard.group(1)}_*"
        return format_name(filled)


def dataset_key(namespace: str, name: str) -> str:
    """Return the key of a dataset's node.

    `#` begins a column in a key, so one in a name is written `%23`.

    >>> dataset_key("postgres://db:5432", "shop.public.orders")
    'postgres://db:5432/shop.public.orders'
    """
    return f"{namespace}/{name.replace('#', '%23')}"


def split_location(name: str) -> tuple[str, str] | None:
    """Return the OpenLineage namespace and name of a dataset that is a file or path; None for a table's name.

    >>> split_location("s3a://bucket/raw/orders.parquet")
    ('s3://bucket', 'raw/orders.parquet')
    >>> split_location("/data/orders.csv"), split_location("shop.orders")
    (('file', '/data/orders.csv'), None)
    """
    if match := _URL.fullmatch(name):
        return normal_place(match.group(1), match.group(2) or "/")
    bare = name.strip('"')
    return ("file", bare) if "/" in bare and not bare.startswith("@") else None


def column_key(dataset: str, path: str) -> str:
    """Return the key of a column's node; a nested field's path has dots.

    >>> column_key("bigquery/web.users", "address.city")
    'bigquery/web.users#address.city'
    """
    return f"{dataset}#{path}"


def split_column_key(key: str) -> tuple[str, str]:
    """Return the dataset's key and the column's path.

    >>> split_column_key("bigquery/web.users#address.city")
    ('bigquery/web.users', 'address.city')
    """
    dataset, _, path = key.rpartition("#")
    return dataset, path
