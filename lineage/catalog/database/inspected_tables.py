"""The schemas of any database that SQLAlchemy has a dialect for; the user installs the dialect.

https://docs.sqlalchemy.org/en/20/core/reflection.html
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.database.errors import DatabaseError, DatabaseUnreachableError, DriverMissingError
from lineage.catalog.shared_columns import SharedColumns
from lineage.catalog.table import TableSchema
from lineage.model.names import format_name, split_name

__all__ = ["InspectedTables"]

_SYSTEM = frozenset(
    ("information_schema", "pg_catalog", "sys", "mysql", "performance_schema", "system", "guest", "db_owner")
)
_MAIN = "main"
"""The schema of SQLite's own database; others are attached."""
_FILES = frozenset(("sqlite", "duckdb"))
_SCHEME = re.compile(r"\w{2,}:")
"""`file:…`, or `md:…` for a database of MotherDuck."""
_PACKAGES = {
    **{
        name: f"'.[{name}]' in a checkout of lineage"
        for name in ("bigquery", "duckdb", "mssql", "mysql", "snowflake", "trino")
    },
    "clickhouse": "clickhouse-sqlalchemy",
    "databricks": "databricks-sqlalchemy",
    "oracle": "oracledb",
    "redshift": "sqlalchemy-redshift",
}
"""What to install for the dialect or driver of some databases: an extra of this package, or another package."""


class InspectedTables:
    """Reads the tables of a database through SQLAlchemy's inspector, by schema and table."""

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address

    def read(self, names: Collection[str] | None = None) -> Iterator[TableSchema]:
        """Yield the tables and views, or those whose own name, in lower case, is one of `names`.

        Raises:
            DriverMissingError: SQLAlchemy, or the dialect, is not installed.
            DatabaseError: the database could not be read.
        """
        try:
            import sqlalchemy  # noqa: PLC0415  an extra
        except ImportError as error:
            hint = "pip install '.[databases]' in a checkout of lineage"
            raise DriverMissingError(f"reading {self._address} needs SQLAlchemy", hint) from error
        engine = self._engine(sqlalchemy)
        path = engine.url.database if self._address.product in _FILES else None
        is_file = path is not None and path != ":memory:" and not _SCHEME.match(path)
        if is_file and not Path(str(path)).exists():
            raise DatabaseUnreachableError(f"{self._address}: there is no file {path}")  # connecting would create it
        try:
            yield from SharedColumns().grouped(self._read(sqlalchemy, engine, names))
        except sqlalchemy.exc.OperationalError as error:
            raise DatabaseUnreachableError(f"{self._address}: {self._reason(error)}") from None
        except sqlalchemy.exc.SQLAlchemyError as error:
            raise DatabaseError(f"{self._address}: {self._reason(error)}") from None
        finally:
            engine.dispose()

    def _engine(self, sqlalchemy: Any) -> Any:
        try:
            return sqlalchemy.create_engine(self._address.uri, poolclass=sqlalchemy.pool.NullPool)
        except (sqlalchemy.exc.NoSuchModuleError, ImportError) as error:
            product = self._address.product
            package = _PACKAGES.get(product)
            hint = f"pip install {package}" if package else "install its SQLAlchemy dialect"
            raise DriverMissingError(f"{self._address}: no driver for {product} is installed", hint) from error
        except (sqlalchemy.exc.ArgumentError, ValueError, TypeError):
            raise DatabaseError(f"{self._address}: SQLAlchemy does not accept this address") from None

    def _read(self, sqlalchemy: Any, engine: Any, names: Collection[str] | None) -> list[tuple[str, str, str | None]]:
        """Return tables, columns and types from the inspector; if its dialect fails, from information_schema."""
        try:
            with engine.connect() as connection:
                return list(self._rows(sqlalchemy.inspect(connection), engine.dialect, names))
        except (sqlalchemy.exc.ProgrammingError, NotImplementedError) as error:
            try:
                with engine.connect() as connection:
                    return list(_of_information_schema(sqlalchemy, connection, names))
            except sqlalchemy.exc.SQLAlchemyError:
                raise error from None

    def _rows(
        self, inspector: Any, dialect: Any, names: Collection[str] | None
    ) -> Iterator[tuple[str, str, str | None]]:
        from sqlalchemy.engine.reflection import ObjectKind, ObjectScope  # noqa: PLC0415  an extra

        stored = _stored_name(dialect)
        for schema in inspector.get_schema_names():
            if _last(schema).lower() in _SYSTEM:
                continue
            wanted = None
            if names is not None:
                listed = (*inspector.get_table_names(schema=schema), *inspector.get_view_names(schema=schema))
                wanted = [one for one in listed if one.lower() in names]
                if not wanted:
                    continue
            found = inspector.get_multi_columns(
                schema=schema, filter_names=wanted, kind=ObjectKind.ANY, scope=ObjectScope.ANY
            )
            for (_, table), columns in found.items():
                outer = [stored(part) for part, _ in split_name(schema)]
                if self._address.product == "sqlite" and outer == [_MAIN]:
                    outer = []  # names have none, as in an ingest of the file
                full = format_name([*outer, stored(table)])
                for column in columns:
                    yield full, stored(column["name"]), _type_text(column["type"], dialect)

    def _reason(self, error: Any) -> str:
        """Return the first line of the driver's message; the statement that failed is left out."""
        return self._address.redact(str(getattr(error, "orig", None) or error).strip().partition("\n")[0])


def _of_information_schema(
    sqlalchemy: Any, connection: Any, names: Collection[str] | None
) -> Iterator[tuple[str, str, str | None]]:
    parts = ("table_catalog", "table_schema", "table_name", "column_name", "data_type", "ordinal_position")
    columns = [sqlalchemy.column(part) for part in parts]
    query = sqlalchemy.select(*columns).select_from(sqlalchemy.table("columns", *columns, schema="information_schema"))
    if names is not None:
        query = query.where(sqlalchemy.func.lower(columns[2]).in_(sorted(names)))
    for *path, column, kind, _ in connection.execute(query.order_by(*columns[:3], columns[5])):
        if str(path[1]).lower() not in _SYSTEM:
            yield (
                format_name([str(part) for part in path if part]),
                str(column),
                None if kind is None else str(kind).lower(),
            )


def _stored_name(dialect: Any) -> Any:
    """Return the function from a name of SQLAlchemy to that in the database: some have it in the other case."""
    if not getattr(dialect, "requires_name_normalize", False):
        return str
    return lambda name: str(dialect.denormalize_name(name))


def _type_text(data_type: Any, dialect: Any) -> str | None:
    """Return a type as the database writes it, in lower case; None if SQLAlchemy does not know it."""
    try:
        text = str(data_type.compile(dialect=dialect)).lower()
    except Exception:  # noqa: BLE001  dialects raise what they like for types that they do not know
        return None
    return None if text == "null" else text


def _last(schema: str) -> str:
    return split_name(schema)[-1][0]
