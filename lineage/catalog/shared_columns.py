"""Columns that many tables have, as one value: a warehouse has millions of columns, and most are alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lineage.catalog.table import TableSchema
from lineage.model.statement import ColumnSchema

__all__ = ["SharedColumns"]

_MAX_SHARED = 200_000
"""Columns that are remembered: if nearly all differ, remembering them takes more than it saves."""


class SharedColumns:
    """Columns as values, one for each name and type: most of a warehouse's are alike."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str | None], ColumnSchema] = {}

    def of(self, name: str, data_type: str | None) -> ColumnSchema:
        """Return the column of a name and type."""
        key = (name, data_type)
        column = self._known.get(key)
        if column is None:
            column = ColumnSchema(name, data_type)
            if len(self._known) < _MAX_SHARED:
                self._known[key] = column
        return column

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
