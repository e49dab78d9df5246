"""The catalog of a DuckDB file: views, macros, generated columns, comments.

https://duckdb.org/docs/stable/sql/meta/duckdb_table_functions
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lineage.catalog.database.errors import DatabaseError, DatabaseUnreachableError, DriverMissingError
from lineage.model.names import format_name
from lineage_ingest.live_database.database_files.file_ingest import existing_file
from lineage_ingest.live_database.objects import (
    LiveColumn,
    LiveDatabase,
    LiveFunction,
    LiveRelation,
    RelationKind,
    quoted,
)
from lineage_ingest.live_database.stated_text import StatedText, function_name

__all__ = ["read_duckdb_file"]

_MAIN = "main"
_SIGNATURE, _SIGNATURE_AT = b"DUCK", 8
"""What every file of DuckDB has after its checksum."""
_SCHEMAS = "SELECT schema_name FROM duckdb_schemas() WHERE database_name = $1 AND NOT internal ORDER BY 1"
_OF_SYSTEM = "SELECT view_name FROM duckdb_views() WHERE internal"
_RELATIONS = """
SELECT schema_name, table_name, 'r', sql, comment FROM duckdb_tables() WHERE database_name = $1 AND NOT internal
UNION ALL
SELECT schema_name, view_name, 'v', sql, comment FROM duckdb_views() WHERE database_name = $1 AND NOT internal
ORDER BY 1, 2
"""
_COLUMNS = """
SELECT schema_name, table_name, column_index, column_name, data_type, comment FROM duckdb_columns()
WHERE database_name = $1 AND NOT internal ORDER BY schema_name, table_name, column_index
"""
_MACROS = """
SELECT schema_name, function_name, function_type, parameters, macro_definition FROM duckdb_functions()
WHERE database_name = $1 AND NOT internal AND function_type IN ('macro', 'table_macro') ORDER BY 1, 2, 4
"""


def read_duckdb_file(path: Path, namespace: str) -> tuple[LiveDatabase, list[StatedText]]:
    """Return what the catalog of a file says, and the texts that state lineage.

    Raises:
        DriverMissingError: duckdb is not installed.
        DatabaseUnreachableError: another process has locked the file.
        DatabaseError: the file is no DuckDB database, is of a newer version, or is damaged.
    """
    try:
        import duckdb  # noqa: PLC0415  an extra
    except ImportError as error:
        hint = "pip install '.[databases]' in a checkout of lineage"
        raise DriverMissingError("reading a DuckDB file needs duckdb", hint) from error
    existing_file(path)
    with path.open("rb") as file:
        file.seek(_SIGNATURE_AT)
        if file.read(len(_SIGNATURE)) != _SIGNATURE:  # DuckDB opens other files too, such as CSV and SQLite's
            raise DatabaseError(f"{path} is not a DuckDB database")
    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            return _read(connection, path, namespace)
    except duckdb.Error as error:
        raise _explained(path, str(error), duckdb.__version__) from None


def _explained(path: Path, message: str, version: str) -> DatabaseError:
    first = message.partition("\n")[0]
    if "set lock on file" in message:
        return DatabaseUnreachableError(f"{path}: {first}", "close the other program, or ingest a copy of the file")
    if "version" in message:
        return DatabaseError(f"{path}: {first}", f"duckdb {version} is installed: pip install --upgrade duckdb")
    return DatabaseError(f"{path}: {first}")


def _read(connection: Any, path: Path, namespace: str) -> tuple[LiveDatabase, list[StatedText]]:
    name = str(connection.execute("SELECT current_database()").fetchone()[0])

    def rows(query: str) -> list[tuple[Any, ...]]:
        return list(connection.execute(query, [name]).fetchall())

    columns: dict[tuple[str, str], list[LiveColumn]] = defaultdict(list)
    for schema, table, number, column, data_type, comment in rows(_COLUMNS):
        columns[schema, table].append(LiveColumn(number, column, data_type.lower(), comment))
    sql: dict[tuple[str, str], str] = {}
    relations = []
    for number, (schema, table, kind, text, comment) in enumerate(rows(_RELATIONS)):
        sql[schema, table] = str(text or "").strip().removesuffix(";")
        own = tuple(columns[schema, table])
        relations.append(LiveRelation(number, schema, table, RelationKind(kind), "", comment, own))
    functions = tuple(_macro(*row) for row in rows(_MACROS))
    database = LiveDatabase(
        namespace or "duckdb",
        name,
        datetime.now(UTC),
        tuple(dict.fromkeys((_MAIN, *(schema for (schema,) in rows(_SCHEMAS))))),
        tuple(relations),
        functions,
        product="duckdb",
        path=f"duckdb:{path.resolve().as_posix()}",
        system_tables=frozenset(view for (view,) in connection.execute(_OF_SYSTEM).fetchall()),
    )
    return database, list(_texts(database, sql))


def _texts(database: LiveDatabase, sql: dict[tuple[str, str], str]) -> Iterator[StatedText]:
    for relation in database.relations:
        text = sql[relation.schema, relation.name]
        if relation.kind.is_view or " GENERATED ALWAYS AS" in text.upper():
            # A view looks names without a schema up in its own schema first, then in main.
            path = f"{quoted(relation.schema)}, {_MAIN}"
            before = f"SET search_path = {path};\n" if relation.schema != _MAIN else ""
            yield StatedText(database.full_name(relation), relation.local_name, before + text, relation)
    for function in database.functions:
        yield StatedText(function_name(database, function), function.signature, function.definition)


def _macro(schema: str, name: str, kind: str, parameters: list[str], definition: str) -> LiveFunction:
    listed = ", ".join(map(quoted, parameters))
    table = "TABLE " if kind == "table_macro" else ""
    text = f"CREATE MACRO {quoted(schema)}.{quoted(name)}({listed}) AS {table}{definition}"
    return LiveFunction(f"{format_name([schema, name])}({', '.join(parameters)})", "sql", text, ())
