"""Functions in FROM that name a table, a file or a path: ClickHouse's, and readers of files."""

from __future__ import annotations

from sqlglot import exp

__all__ = [
    "FILE_READERS",
    "NAMES_AT",
    "PATHS_AT",
    "UNNAMED_FUNCTIONS",
    "name_of_function",
    "path_of_function",
    "table_of_function",
]

FILE_READERS = frozenset(
    ("read_files", "read_csv_auto", "read_json", "read_json_auto", "read_ndjson", "read_text", "read_blob",
     "delta_scan", "iceberg_scan", "parquet_scan", "read_avro", "s3", "gcs", "hdfs", "url")
)  # fmt: skip
PATHS_AT = {
    **dict.fromkeys(("file", "cosn", "oss", "iceberg", "icebergs3", "icebergazure", "deltalake", "deltalakes3",
                     "hudi"), 0),
    **dict.fromkeys(("s3cluster", "gcscluster", "urlcluster", "hdfscluster", "filecluster", "icebergcluster",
                     "icebergs3cluster", "deltalakecluster", "deltalakes3cluster", "hudicluster"), 1),
    **{"azureblobstorage": 2, "azureblobstoragecluster": 3},
}  # fmt: skip
"""ClickHouse's functions that read files, and the index of the argument with their path."""
NAMES_AT = {
    "remote": 1, "remotesecure": 1, "cluster": 1, "clusterallreplicas": 1, "mysql": 1, "postgresql": 1, "mongodb": 1,
    "odbc": 1, "jdbc": 1, "dictionary": 0,
}  # fmt: skip
"""ClickHouse's functions that read a table named by their arguments, and the index of the name's first argument."""
UNNAMED_FUNCTIONS = frozenset(("merge", "redis", "sqlite", "executable", "input", "loop", "ytsaurus", "arrowflight"))
"""ClickHouse's functions that read something their arguments do not name: tables matching a pattern, a queue."""


def table_of_function(call: exp.Expr) -> exp.Table | None:
    """Return the table that one of ClickHouse's functions names: it is read, or written (`INSERT INTO FUNCTION`)."""
    function, given = name_of_function(call), list(getattr(call, "expressions", ()))
    place = NAMES_AT.get(function)
    parts = _table_named(function, given, place) if place is not None and len(given) > place else []
    return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False))) if parts else None


def path_of_function(call: exp.Expr) -> exp.Expr | None:
    """Return the argument with the path of the files that one of ClickHouse's functions reads or writes."""
    return next(iter(list(getattr(call, "expressions", ()))[PATHS_AT.get(name_of_function(call), 0) :]), None)


def _table_named(function: str, given: list[exp.Expr], place: int) -> list[exp.Identifier]:
    """Return the parts of the table's name among the arguments of a function; an empty tuple if a part is missing."""
    options = {one.this.name.lower(): one.expression for one in given if isinstance(one, exp.EQ)}
    if options:  # of a named collection
        listed = [options[name] for name in ("database", "db", "schema", "table", "collection") if name in options]
        whole = "table" in options or "collection" in options
        return [part for one in listed for part in _parts_of(one)] if whole else []
    first = _parts_of(given[place])
    if len(first) > 1 or (function == "dictionary" and first):
        return first
    second = _parts_of(given[place + 1]) if len(given) > place + 1 else []
    if len(first) != 1 or len(second) != 1:
        return []
    schema = _parts_of(given[5])[:1] if function == "postgresql" and len(given) > 5 else []
    return [*first, *schema, *second]


def _parts_of(node: exp.Expr) -> list[exp.Identifier]:
    """Return the parts of a name, written as `db.t` or as the string 'db.t'; none if it is neither."""
    if isinstance(node, exp.Column):
        return [part for part in node.parts if isinstance(part, exp.Identifier)]
    if isinstance(node, exp.Literal) and node.is_string and node.name:
        return [exp.to_identifier(part, quoted=True) for part in node.name.split(".", 1) if part]
    return []


def name_of_function(call: exp.Expr) -> str:
    """Return the name of a called function, in lower case."""
    return (call.name if isinstance(call, exp.Anonymous) else call.key).lower()
