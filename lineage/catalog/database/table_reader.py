"""What reads the schemas of tables of a database, for each kind of database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.table import TableSchema
from lineage.model.statement import ColumnSchema

__all__ = ["SharedColumns", "TableReader", "table_reader"]


class TableReader(Protocol):
    """Reads schemas. Each method raises DatabaseError if the database cannot be read."""

    def read(self, names: Collection[str] | None = None) -> Iterable[TableSchema]:
        """Return the tables and views, or those whose own name (without schema) is one of `names`."""


class SharedColumns:
    """Columns as values, one for each name and type: most of a warehouse's are alike."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str | None], ColumnSchema] = {}

    def of(self, name: str, data_type: str | None) -> ColumnSchema:
        """Return the column of a name and type."""
        key = (name, data_type)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = ColumnSchema(name, data_type)
        return found

    def grouped(self, rows: Iterable[tuple[str, str, str | None]]) -> Iterator[TableSchema]:
        """Yield a schema for each run of rows (table, column, type) of one table."""
        table: str | None = None
        columns: list[ColumnSchema] = []
        for name, column, data_type in rows:
            if name != table:
                if table is not None:
                    yield TableSchema(table, tuple(columns))
                table, columns = name, []
            columns.append(self.of(column, data_type))
        if table is not None:
            yield TableSchema(table, tuple(columns))


def table_reader(address: DatabaseAddress) -> TableReader:
    """Return the reader for the database at an address."""
    if address.is_postgres:
        from lineage.catalog.database.postgres_tables import PostgresTables  # noqa: PLC0415  an extra

        return PostgresTables(address)
    from lineage.catalog.database.inspected_tables import InspectedTables  # noqa: PLC0415  an extra

    return InspectedTables(address)
