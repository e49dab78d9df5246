"""Names of tables and columns: their parts, their text, and the keys of their nodes in the graph."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from lineage.frozen import frozen
from lineage.model.dialect import Dialect
from lineage.model.namespaces import is_path, normal_namespace, normal_place
from lineage.model.spelling import Spelled, any_spelled, as_written, spelling_of

__all__ = [
    "bigquery_table",
    "ColumnPath",
    "Naming",
    "column_key",
    "column_text",
    "dataset_key",
    "dataset_of",
    "format_name",
    "is_column_key",
    "parse_column_name",
    "parse_table_name",
    "path_spelling",
    "plain_name",
    "renamed_path",
    "schema_of",
    "short_name",
    "split_column_key",
    "split_dataset_key",
    "split_location",
    "split_name",
    "versioned_name",
]

_QUOTE = re.compile(r"[\"`\[\]]")
_PLAIN = re.compile(r"[^./\"`\[\]\s]+")
# A part of a column's path that needs no quotes: parsing its text returns it unchanged.
_BARE = re.compile(r"[^.\"`\[\]\s](?:[^.\"`\[\]]*[^.\"`\[\]\s])?")
# BigQuery: date-sharded tables share a prefix and differ by a day, YYYYMMDD.
_SHARD = re.compile(r"^(.+?)_?(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$")
# … and a wildcard over some of them, `events_2024*`.
_SHARDS = re.compile(r"^(.+?)_?(?:19|20)\d{0,6}\*$")
# … and a partition of a table, `orders$20240131`, `orders$__UNPARTITIONED__`.
_PARTITION = re.compile(r"\$\w*$")
_SESSION_SCHEMAS = frozenset(("pg_temp", "temp", "_session"))
"""The schema names that can qualify a temporary table which is not in a regular schema."""
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[^/]+)/?(.*)", re.DOTALL)
# A path has a slash before any dot or quote: in a table's name a part with a slash is quoted, or follows others.
_PATH = re.compile(r"[^.\"`\[\]]*/")
_PART = re.compile(r'"((?:[^"]|"")*)"|`((?:[^`]|``)*)`|\[((?:[^\]]|\]\])*)\]|([^."`\[\]]+)')
# Suffix of a name that several tables had in succession: its version number. It never occurs in SQL.
_VERSION = re.compile("\x01\\d+")
# In keys `#` separates a column's path from its dataset, so in names it is escaped as `%23`. A `%` is escaped as `%25`
# only where it would be read as one of these two: names with other escapes (`%20` in a path) are unchanged in keys.
_ESCAPED = re.compile(r"#|%(?=2[35])")
_ESCAPES = re.compile(r"%2[35]")


def format_name(parts: Sequence[str]) -> str:
    """Return the parts as one dotted name; a part that contains a dot, a slash, a quote or a space is quoted.

    >>> format_name(["shop", "order items"]), format_name(["sapsr3", "/BIC/PMATERIAL"])
    ('shop."order items"', 'sapsr3."/BIC/PMATERIAL"')

    If a part has a spelling (`Spelled`), the name has one too.
    """
    if any_spelled(parts):
        written = [as_written(part) for part in parts]
        return Spelled(format_name([str(part) for part in parts]), format_name(written))
    if all(_PLAIN.fullmatch(part) for part in parts):
        return ".".join(parts)
    return ".".join(part if _PLAIN.fullmatch(part) else '"' + part.replace('"', '""') + '"' for part in parts)


def split_name(name: str) -> list[tuple[str, bool]]:
    """Return the parts of a dotted name, each with a flag: whether it was quoted (with `"`, backticks or brackets).

    >>> split_name('shop."Order.Items".id')
    [('shop', False), ('Order.Items', True), ('id', False)]
    >>> split_name("abfss://raw@lake.dfs.core.windows.net/orders")  # a path is one part
    [('abfss://raw@lake.dfs.core.windows.net/orders', False)]
    """
    if "/" in name and _PATH.match(name):
        return [(name, False)]
    parts: list[tuple[str, bool]] = []
    for match in _PART.finditer(name):
        double, back, bracket, plain = match.groups()
        if plain is not None:
            parts.append((plain.strip(), False))
        elif double is not None:
            parts.append((double.replace('""', '"'), True))
        else:
            parts.append((back.replace("``", "`") if back is not None else bracket.replace("]]", "]"), True))
    return parts


@frozen
class ColumnPath:
    """A column by its parts: the name of a top-level column, then those of the nested fields.

    In its text the parts are joined by dots. A part that contains a dot, a quote, a backtick or a bracket, is empty, or
    begins or ends with white space, is quoted with `"`; quotes in it are doubled.

    >>> str(ColumnPath(("address", "zip code"))), str(ColumnPath(("Total.Amount",)))
    ('address.zip code', '"Total.Amount"')
    """

    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> ColumnPath:
        """Return the path parsed from a text; if the text is not a valid path, it is the name of a top-level column.

        >>> ColumnPath.parse('address."zip.code"').parts, ColumnPath.parse('6"').parts
        (('address', 'zip.code'), ('6"',))
        """
        return cls.read(text) or cls((text,))

    @classmethod
    def read(cls, text: str) -> ColumnPath | None:
        """Return the path parsed from a text, with any of the usual quotes; None if the text is not a valid path.

        >>> ColumnPath.read("[zip.code]"), ColumnPath.read('a."b')
        (ColumnPath(parts=('zip.code',)), None)
        """
        # A text with a spelling equals the one without: only plain texts can be looked up.
        return _read_plain_path(text) if type(text) is str else cls._read(text)

    @classmethod
    def _read(cls, text: str) -> ColumnPath | None:
        if _BARE.fullmatch(text):
            return cls((text,))
        parts: list[str] = []
        end = 0
        while True:
            match = _PART.match(text, end)
            if match is None:
                return None
            (part, _) = split_name(match.group())[0]
            parts.append(part)
            end = match.end()
            if end == len(text):
                return cls(tuple(parts))
            if text[end] != ".":
                return None
            end += 1

    @property
    def name(self) -> str:
        """The column's or field's own name."""
        return self.parts[-1]

    @property
    def parent(self) -> ColumnPath | None:
        """The path of the column or field that contains a nested field; None for a top-level column."""
        return ColumnPath(self.parts[:-1]) if len(self.parts) > 1 else None

    @property
    def spelling(self) -> str | None:
        """The text of the path as written in SQL; None if that equals its text."""
        if not any_spelled(self.parts):
            return None
        written = ".".join(column_text(as_written(part)) for part in self.parts)
        return written if written != str(self) else None

    def __str__(self) -> str:
        return ".".join(map(column_text, self.parts))


@lru_cache(maxsize=50_000)
def _read_plain_path(text: str) -> ColumnPath | None:
    return ColumnPath._read(text)


def renamed_path(path: str, renamed: Mapping[str, str]) -> str:
    """Return the text of a path after columns (and with them their nested fields) are renamed.

    >>> renamed_path("address.city", {"address": "place"}), renamed_path("address2", {"address": "place"})
    ('place.city', 'address2')
    """
    inner: ColumnPath | None = ColumnPath.parse(path)
    below: tuple[str, ...] = ()
    while inner is not None:
        new = renamed.get(str(inner))
        if new is not None:
            return str(ColumnPath((*ColumnPath.parse(new).parts, *below)))
        below = (inner.name, *below)
        inner = inner.parent
    return path


def column_text(name: str) -> str:
    """Return the text of the path of a top-level column.

    >>> column_text("item#"), column_text("a.b")
    ('item#', '"a.b"')
    """
    if name.isidentifier() or _BARE.fullmatch(name):
        return name
    text = '"' + name.replace('"', '""') + '"'
    return Spelled(text, column_text(name.spelling)) if isinstance(name, Spelled) else text


def path_spelling(name: str, path: str) -> str | None:
    """Return the spelling of a path that is the text of a column's name; None if it has none, or is another path.

    >>> name = Spelled("orderid", "OrderID")
    >>> path_spelling(name, "orderid"), path_spelling(name, "order_id")
    ('OrderID', None)
    """
    return spelling_of(path, column_text(as_written(name))) if isinstance(name, Spelled) else None


def versioned_name(name: str, version: int) -> str:
    """Return the name with a version, which distinguishes tables that had the same full name; `plain_name` removes it.

    >>> plain_name(versioned_name('shop."my orders"', 2))
    'shop."my orders"'
    """
    *outer, last = (part for part, _ in split_name(name))
    return format_name([*outer, f"{last}\x01{version}"])


def plain_name(text: str) -> str:
    """Return a name, or a text that contains names, without version suffixes."""
    return _VERSION.sub("", text) if "\x01" in text else text


def parse_table_name(name: str, dialect: Dialect) -> tuple[str, ...]:
    """Return the parts of a table name typed by a user, folded as the dialect folds them.

    >>> from lineage.model.dialects import dialect_named
    >>> parse_table_name('Shop."Orders"', dialect_named("postgres"))
    ('shop', 'Orders')
    """
    # SQL has a name with a slash only in quotes.
    return tuple(dialect.fold_table(part, quoted=quoted or "/" in part) for part, quoted in split_name(name))


def parse_column_name(name: str, dialect: Dialect) -> tuple[tuple[str, ...], str]:
    """Return the table's parts and the column of a dotted `table.column` typed by a user.

    >>> from lineage.model.dialects import dialect_named
    >>> parse_column_name("Shop.Orders.Amount", dialect_named("snowflake"))
    (('SHOP', 'ORDERS'), 'AMOUNT')
    """
    *table, (column, quoted) = split_name(name)
    folded = tuple(dialect.fold_table(part, quoted=was_quoted) for part, was_quoted in table)
    return folded, dialect.fold_column(column, quoted=quoted)


@frozen
class Naming:
    """The dialect, and the defaults that complete partial names.

    `namespace` is OpenLineage's (`postgres://host:port`, `bigquery`, …); the default is the dialect's name.
    `session_tables` are temporary tables (bare and full name) that a session finds whatever its default schema is.
    `search_path` lists the schemas that are searched after the default one for an existing table.
    `versions` are tables whose name other tables had before (full name, versioned name); `remade` are the tables that
    a definition creates in their place (versioned name of the old table, versioned name of the new one).
    `schemas` are all schemas of the default database, where they are known: in DuckDB, any other name before a table's
    is that of an attached database.
    """

    dialect: Dialect
    namespace: str = ""
    default_database: str | None = None
    default_schema: str | None = None
    session_tables: tuple[tuple[str, str], ...] = ()
    search_path: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    remade: tuple[tuple[str, str], ...] = ()
    schemas: tuple[str, ...] = ()

    @property
    def dataset_namespace(self) -> str:
        """The namespace of datasets: the given one, normalized, or the dialect's name."""
        return normal_namespace(self.namespace) if self.namespace else self.dialect.name

    def qualify(self, parts: Sequence[str]) -> str:
        """Return the full dotted name of a table from its (already folded) parts, outermost first.

        The default database is added only if there is a schema: that of the name, the default one, or else the one that
        every database of the dialect has. BigQuery's date shards become one table,
        `events_20240101` → `events_*`, and a partition becomes its table.

        >>> from lineage.model.dialects import dialect_named
        >>> Naming(dialect_named("postgres"), default_database="db", default_schema="shop").qualify(["orders"])
        'db.shop.orders'
        >>> Naming(dialect_named("snowflake"), default_database="SHOP").qualify(["ORDERS"])
        'SHOP.PUBLIC.ORDERS'
        >>> Naming(dialect_named("bigquery")).qualify(["web", "events_20240131"])
        'web.events_*'
        """
        filled = list(parts)
        if len(filled) == 1 and "/" in filled[0] and (self.dialect.reads_files_by_format or is_path(self.namespace)):
            return str(filled[0])  # Spark's tables have no such names
        if self.session_tables and (temporary := self.session_table(filled)) is not None:
            return temporary
        self._complete(filled)
        if filled and self.dialect.has_table_decorators:
            filled[-1] = bigquery_table(filled[-1])
        return self.version_of(format_name(filled)) if self.versions else format_name(filled)

    def _complete(self, parts: list[str]) -> None:
        """Add the schema and the database that a name leaves out."""
        schema = self.default_schema
        if schema is None and self.default_database:  # what a connection to it has, if nothing else is said
            schema = self.dialect.default_schema or self.dialect.schema_of_attached
        if len(parts) == 1 and schema:
            parts.insert(0, schema)
        if len(parts) == 2 and self.default_database:
            main = self.dialect.schema_of_attached
            if main is not None and self.schemas and parts[0] not in self.schemas:
                parts.insert(1, main)
            else:
                parts.insert(0, self.default_database)

    def spelling(self, name: str, parts: Sequence[str]) -> str | None:
        """Return the spelling of a full name, from the parts in a statement and the defaults; None if it is the same.

        >>> from lineage.model.dialects import dialect_named
        >>> tsql = dialect_named("tsql")
        >>> Naming(tsql, default_schema="dbo").spelling("dbo.sales", [tsql.fold_table("Sales")])
        'dbo.Sales'
        """
        filled = list(parts)
        self._complete(filled)
        if not any_spelled(filled):
            return None
        plain = plain_name(name)
        full = [part for part, _ in split_name(plain)]
        for from_end, part in enumerate(reversed(filled), 1):
            if isinstance(part, Spelled) and from_end <= len(full) and full[-from_end] == part:
                full[-from_end] = part.spelling
        return spelling_of(plain, format_name(full))

    def version_of(self, name: str) -> str:
        """Return the versioned name of the current table of this full name."""
        return next((own for full, own in self.versions if full == name), name)

    def made(self, name: str) -> str:
        """Return the versioned name of the table that a definition creates in place of the one with this name."""
        return next((own for old, own in self.remade if old == name), name)

    def renamed(self, name: str, new: Sequence[str]) -> str:
        """Return the full name of a table after a rename; parts that the new name omits are those of the old name.

        >>> from lineage.model.dialects import dialect_named
        >>> Naming(dialect_named("postgres"), default_schema="shop").renamed("core.orders", ["old_orders"])
        'core.old_orders'
        """
        outer = [part for part, _ in split_name(plain_name(name))][: -len(new) or None]
        return self.version_of(format_name([*outer, *new]))

    def candidates(self, parts: Sequence[str]) -> list[Sequence[str]]:
        """Return the names that a reference to an existing table may mean, in the order of the search path.

        >>> from lineage.model.dialects import dialect_named
        >>> naming = Naming(dialect_named("postgres"), default_schema="mart", search_path=("raw", "db.ext"))
        >>> naming.candidates(["orders"])
        [['orders'], ['raw', 'orders'], ['db', 'ext', 'orders']]
        """
        if len(parts) != 1 or not self.search_path or self.session_table(parts) is not None:
            return [parts]
        return [parts, *([*(part for part, _ in split_name(entry)), *parts] for entry in self.search_path)]

    def session_table(self, parts: Sequence[str]) -> str | None:
        """Return the full name of the temporary table that these parts refer to; None if to another table."""
        if self.session_tables and (len(parts) == 1 or parts[0].lower() in _SESSION_SCHEMAS):
            for bare, full in self.session_tables:
                if bare == parts[-1]:
                    return full
        return None


def bigquery_table(name: str) -> str:
    """Return the table of a BigQuery name: date shards and wildcards are one table, a partition belongs to its table.

    https://cloud.google.com/bigquery/docs/managing-partitioned-table-data#write-to-partition

    >>> bigquery_table("events_20240131"), bigquery_table("events_2024*"), bigquery_table("orders$20240131")
    ('events_*', 'events_*', 'orders')
    """
    whole = _PARTITION.sub("", name) or name
    shard = _SHARD.match(whole) or _SHARDS.match(whole)
    return f"{shard.group(1)}_*" if shard else whole


def dataset_key(namespace: str, name: str) -> str:
    """Return the key of a dataset's node.

    >>> dataset_key("postgres://db:5432", "shop.public.orders")
    'postgres://db:5432/shop.public.orders'
    >>> dataset_key("mssql", "shop.dbo.a#1")
    'mssql/shop.dbo.a%231'
    """
    return _escape(f"{namespace}/{name}")


def split_dataset_key(key: str, likely: str | None = None) -> tuple[str, str]:
    """Return namespace and name of a dataset's key; a namespace may be a URL with an authority.

    `likely` is the namespace if the key begins with it; a namespace with further slashes is recognized only so.

    >>> split_dataset_key("postgres://db:5432/shop.orders")
    ('postgres://db:5432', 'shop.orders')
    >>> split_dataset_key("mssql/shop.dbo.a%231")
    ('mssql', 'shop.dbo.a#1')
    """
    text = _unescape(key)
    if likely is not None and text.startswith(f"{likely}/"):
        return likely, text[len(likely) + 1 :]
    scheme, separator, rest = text.partition("://")
    if not separator:
        namespace, _, name = scheme.partition("/")
        return namespace, name
    authority, _, name = rest.partition("/")
    return f"{scheme}://{authority}", name


def short_name(name: str) -> str:
    """Return the last part of a dataset's name, for display.

    >>> short_name("shop.public.orders"), short_name("raw/2026/orders"), short_name('shop."my.table"')
    ('orders', 'orders', 'my.table')
    """
    if _PATH.match(name):
        return name.rstrip("/").rpartition("/")[2] or name
    return ColumnPath.parse(name).name or name


def schema_of(name: str) -> str:
    """Return what stands before the last part of a table's full name; empty if it has one part.

    >>> schema_of("db.shop.orders"), schema_of('shop."my.table"'), schema_of("orders")
    ('db.shop', 'shop', '')
    """
    before, dot, last = name.rpartition(".")
    if not dot or not last or _QUOTE.search(last):
        return format_name([part for part, _ in split_name(name)][:-1])
    return _format_again(before)


@lru_cache(maxsize=4096)
def _format_again(name: str) -> str:
    return name if split_location(name) else format_name([part for part, _ in split_name(name)])


def split_location(name: str) -> tuple[str, str] | None:
    """Return the OpenLineage namespace and name of a dataset that is a file or path; None for a table's name.

    >>> split_location("s3a://bucket/raw/orders.parquet")
    ('s3://bucket', 'raw/orders.parquet')
    >>> split_location("/data/orders.csv"), split_location("shop.orders"), split_location('sapsr3."/BIC/PMATERIAL"')
    (('file', '/data/orders.csv'), None, None)
    """
    if match := _URL.fullmatch(name):
        return normal_place(match.group(1), match.group(2) or "/")
    return ("file", name) if _PATH.match(name) and not name.startswith("@") else None


def column_key(dataset: str, path: str) -> str:
    """Return the key of a column's node: its dataset's key, `#`, and its path as text (`ColumnPath`).

    >>> column_key("bigquery/web.users", "address.city"), column_key("db2/shop.orders", "item#")
    ('bigquery/web.users#address.city', 'db2/shop.orders#item%23')
    """
    return f"{dataset}#{_escape(path)}"


def split_column_key(key: str) -> tuple[str, str]:
    """Return the dataset's key and the column's path as text; for a dataset's key, the key and an empty path.

    >>> split_column_key("bigquery/web.users#address.city"), split_column_key("db2/shop.orders#item%23")
    (('bigquery/web.users', 'address.city'), ('db2/shop.orders', 'item#'))
    """
    dataset, _, path = key.partition("#")
    return dataset, _unescape(path)


def dataset_of(key: str) -> str:
    """Return the key of the dataset that a column belongs to; a dataset's key is returned unchanged.

    >>> dataset_of("bigquery/web.users#address.city"), dataset_of("bigquery/web.users")
    ('bigquery/web.users', 'bigquery/web.users')
    """
    return key.partition("#")[0]


def is_column_key(key: str) -> bool:
    """Return whether a key is a column's, not a dataset's.

    >>> is_column_key("postgres/shop.orders#id"), is_column_key("postgres/shop.orders")
    (True, False)
    """
    return "#" in key


def _escape(text: str) -> str:
    if "#" not in text and "%" not in text:
        return text
    return _ESCAPED.sub(lambda match: "%23" if match.group() == "#" else "%25", text)


def _unescape(text: str) -> str:
    return _ESCAPES.sub(lambda match: "#" if match.group() == "%23" else "%", text) if "%" in text else text
