"""Datasets of databases behind JDBC, by OpenLineage's naming rules: `postgres://host:port`, `db.schema.table`.

https://openlineage.io/docs/spec/naming
"""

from __future__ import annotations

import re

from lineage.model.dialect import Dialect
from lineage.model.names import format_name, split_name
from lineage.model.namespaces import dialect_of, normal_namespace, scheme_of

__all__ = ["jdbc_dataset", "jdbc_dialect", "jdbc_namespace"]

_DATABASE_IN_NAME = frozenset(
    {"postgres", "redshift", "mssql", "oracle", "mysql", "snowflake", "trino", "db2", "teradata"}
)
_PROPERTY = re.compile(r"(?:[;?&]|^)(databaseName|database|db|schema|currentSchema)=([^;&?]+)", re.IGNORECASE)
_ORACLE = re.compile(r"oracle:thin:@(?://)?([^:/]+)(?::(\d+))?[:/](.+)", re.IGNORECASE)
_SERVER = re.compile(r"([a-z0-9]+)://([^/;?]*)(?:/([^;?]*))?", re.IGNORECASE)


def jdbc_namespace(url: str) -> tuple[str, str | None, str | None]:
    """Return the namespace of a database, the database's name and the default schema, from its JDBC URL.

    User, password and other properties are left out.

    >>> jdbc_namespace("jdbc:postgresql://me:secret@h/shop?user=u&password=p")
    ('postgres://h:5432', 'shop', 'public')
    >>> jdbc_namespace("jdbc:sqlserver://h;databaseName=shop;password=p"), jdbc_namespace("jdbc:sqlite:/data/j.db")
    (('mssql://h:1433', 'shop', 'dbo'), ('sqlite:/data/j.db', None, None))
    """
    text = url.removeprefix("jdbc:")
    properties = {name.lower(): value for name, value in _PROPERTY.findall(text)}
    if oracle := _ORACLE.match(text):
        host, port, service = oracle.groups()
        return normal_namespace(f"oracle://{host}:{port or 1521}"), service.split("?")[0], None
    if server := _SERVER.match(text):
        scheme, authority, path = server.groups()
        namespace = normal_namespace(f"{scheme}://{authority}")
        database = properties.get("databasename") or properties.get("database") or properties.get("db") or path or None
        schema = properties.get("currentschema") or properties.get("schema")
        dialect = dialect_of(namespace)
        return namespace, database, schema or (dialect.default_schema if dialect is not None else None)
    scheme, _, path = text.partition(":")
    bare = re.split(r"[?;]", path)[0]
    return f"{scheme}:{bare}" if bare else scheme, None, None


def jdbc_dataset(url: str, table: str) -> tuple[str, str]:
    """Return the namespace and name of a table behind a JDBC URL.

    >>> jdbc_dataset("jdbc:postgresql://h/shop", "orders"), jdbc_dataset("jdbc:mysql://h/shop", "orders")
    (('postgres://h:5432', 'shop.public.orders'), ('mysql://h:3306', 'shop.orders'))
    >>> jdbc_dataset("jdbc:snowflake://acme.snowflakecomputing.com/?db=SHOP&warehouse=w", "orders")[1]
    'SHOP.PUBLIC.orders'
    """
    namespace, database, schema = jdbc_namespace(url)
    parts = [part for part, _ in split_name(table)]
    if scheme_of(namespace) in _DATABASE_IN_NAME:
        if len(parts) == 1 and schema is not None:
            parts = [schema, *parts]
        wanted = 3 if schema is not None or scheme_of(namespace) in ("oracle", "snowflake", "trino", "db2") else 2
        if database is not None and len(parts) < wanted:
            parts = [database, *parts]
    return namespace, format_name(parts)


def jdbc_dialect(url: str) -> Dialect | None:
    """Return the SQL dialect of a database behind a JDBC URL, if it is known."""
    return dialect_of(jdbc_namespace(url)[0])
