"""Normalize dataset namespaces by OpenLineage's naming rules.

Two spellings of one location (`s3a://` and `s3://`, `postgresql://DB` and `postgres://db:5432`) are one node, so that
SQL files, query logs and events refer to the same datasets. The rules are on OpenLineage's page on naming.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from lineage.model.dialect import Dialect
from lineage.model.dialects import DIALECTS, dialect_named

__all__ = ["STORAGE", "dialect_of", "is_path", "normal_namespace", "normal_place", "preferred_key", "scheme_of"]

_SCHEMES = {
    "postgresql": "postgres",
    "pgsql": "postgres",
    "mariadb": "mysql",
    "sqlserver": "mssql",
    "tsql": "mssql",
    "s3a": "s3",
    "s3n": "s3",
    "gcs": "gs",
    "abfs": "abfss",
    "wasb": "wasbs",
    "hive2": "hive",
}
_PORTS = {"postgres": 5432, "mysql": 3306, "mssql": 1433, "oracle": 1521, "redshift": 5439, "hive": 10000}
"""Default ports, added if a namespace has none: OpenLineage's rules require a port for these schemes."""

_LEFT_OUT_PORTS = {"hdfs": 8020}
STORAGE = frozenset(
    {"file", "s3", "gs", "abfss", "wasbs", "hdfs", "dbfs", "adl", "viewfs", "oss", "cos", "ftp", "sftp"}
)
"""Schemes of file storage."""

_DIALECTS = {
    "mssql": "tsql",
    "awsathena": "athena",
    "azure-synapse": "tsql",
    "unitycatalog": "databricks",
    "cockroachdb": "postgres",
    "arn": "hive",
}
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/?#;]*))?([^?#;]*)", re.DOTALL)
_PORT = re.compile(r"(.*?)(?::(\d+))?", re.DOTALL)


@lru_cache(maxsize=10_000)
def normal_namespace(namespace: str) -> str:
    """Return a namespace normalized by OpenLineage's naming rules; one without a scheme is unchanged.

    User and password are removed: they are not part of a namespace.

    >>> normal_namespace("postgresql://me:secret@DB.example"), normal_namespace("s3a://Lake/")
    ('postgres://db.example:5432', 's3://Lake')
    >>> normal_namespace("hdfs://nn:8020"), normal_namespace("file:///"), normal_namespace("my warehouse")
    ('hdfs://nn', 'file', 'my warehouse')
    """
    match = _URL.match(namespace.strip().removeprefix("jdbc:"))
    if match is None:
        return namespace.strip().rstrip("/") or namespace
    scheme, authority, path = match.groups()
    lower = scheme.lower()
    scheme = _SCHEMES.get(lower, lower)
    path = path.rstrip("/")
    if authority is None:
        if path and not path.startswith("/"):
            return namespace.strip()  # `arn:aws:glue:…`, `custom: name`
        return f"{scheme}:{path}" if path else scheme
    if not authority:
        return f"{scheme}:{path}" if path else scheme
    if scheme in STORAGE:
        # `container@account` is a location here, and a bucket's name keeps its case.
        host = authority if scheme in {"s3", "gs"} else authority.lower()
        default = _LEFT_OUT_PORTS.get(scheme)
        return f"{scheme}://{host.removesuffix(f':{default}') if default else host}{path}"
    host, port = _host_and_port(authority.rpartition("@")[2])
    if scheme == "snowflake":
        host = host.removesuffix(".snowflakecomputing.com")
    port = port or (str(_PORTS[scheme]) if scheme in _PORTS and "," not in host else None)
    return f"{scheme}://{host}{f':{port}' if port else ''}{path}"


@lru_cache(maxsize=10_000)
def normal_place(namespace: str, name: str) -> tuple[str, str]:
    """Return the normalized namespace and name of a dataset; a path has no trailing slash.

    A path in a `file:` namespace belongs to the name; paths in a bucket or file system begin without a slash.

    >>> normal_place("file:/data", "out/"), normal_place("s3a://lake", "/raw/orders/")
    (('file', '/data/out'), ('s3://lake', 'raw/orders'))
    >>> normal_place("postgresql://db:5432", "shop.public.orders")
    ('postgres://db:5432', 'shop.public.orders')

    Without a namespace, that of a path is in its name, or it is a file.

    >>> normal_place("", "s3a://lake/raw/orders"), normal_place("", "/data/out")
    (('s3://lake', 'raw/orders'), ('file', '/data/out'))
    """
    if not namespace.strip():
        scheme, _, path = name.partition("://")
        authority, _, path = path.partition("/")
        namespace, name = (f"{scheme}://{authority}", path) if path else ("file" if name[:1] == "/" else "", name)
    normal = normal_namespace(namespace)
    scheme = scheme_of(normal)
    if scheme not in STORAGE:
        return normal, name
    head, separator, tail = normal.partition("://")
    if separator:
        authority, slash, path = tail.partition("/")
        joined = f"{path}/{name.lstrip('/')}" if slash else name
        return f"{head}://{authority}", joined.strip("/") or "/"
    base = normal[len(scheme) + 1 :]
    joined = f"{base}/{name.lstrip('/')}" if base else name.removeprefix(f"{scheme}:")
    return scheme, joined.rstrip("/") or "/"


@lru_cache(maxsize=10_000)
def dialect_of(namespace: str) -> Dialect | None:
    """Return the SQL dialect of a (normalized) namespace; None if its scheme is not a dialect's.

    >>> [found.name if (found := dialect_of(n)) else None for n in ("mssql://h:1433", "bigquery", "s3://b")]
    ['tsql', 'bigquery', None]
    """
    scheme = scheme_of(namespace)
    name = _DIALECTS.get(scheme, scheme)
    return dialect_named(name) if name in DIALECTS else None


def scheme_of(namespace: str) -> str:
    """Return the scheme of a (normalized) namespace: the text before the first colon, or all of it."""
    return namespace.partition(":")[0]


def is_path(key: str) -> bool:
    """Return whether a dataset's key is a path in file storage.

    >>> is_path("s3://lake/raw/orders"), is_path("hive://ms:9083/db.orders")
    (True, False)
    """
    return scheme_of(key).partition("/")[0] in STORAGE


def preferred_key(keys: Iterable[str]) -> str:
    """Return the primary key of a dataset that has several: a database's, else a metastore's, else a path.

    Among equals it is the shortest, then the first in sort order.

    >>> preferred_key(["s3://b/t", "hive://m:1/d.t"]), preferred_key(["hive://m:1/v", "postgres://db:5432/db.public.v"])
    ('hive://m:1/d.t', 'postgres://db:5432/db.public.v')
    """
    return min(keys, key=lambda key: (_remoteness(key), len(key), key))


def _remoteness(key: str) -> int:
    """Return the rank of a key: 0 for a database, 1 for a metastore or unknown scheme, 2 for a path."""
    dialect = dialect_of(key.partition("/")[0])
    if dialect is None:
        return 2 if is_path(key) else 1
    return int(dialect.name == "hive")


def _host_and_port(authority: str) -> tuple[str, str | None]:
    match = _PORT.fullmatch(authority.lower())
    return (match.group(1), match.group(2)) if match else (authority.lower(), None)
