"""Read table schemas from a CSV export of `information_schema.columns`, as every database can write it."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from lineage.catalog.shared_columns import SharedColumns
from lineage.catalog.table import CatalogError, TableSchema
from lineage.model.name_lists import name_list
from lineage.model.names import format_name

__all__ = ["read_information_schema"]

_NAMES = ("table_catalog", "table_schema", "table_name", "column_name", "ordinal_position", "data_type")
_REQUIRED = ("table_name", "column_name")
_ALSO = {"database": "table_catalog", "table_database": "table_catalog", "schema": "table_schema",
         "table": "table_name",
         "column": "column_name", "type": "data_type", "position": "ordinal_position"}  # fmt: skip
_SYSTEM = frozenset(("information_schema", "pg_catalog"))


def read_information_schema(path: Path) -> Iterator[TableSchema]:
    """Yield the tables of a CSV file with a header; columns are ordered by `ordinal_position`, if there is one.

    Raises:
        CatalogError: the file has no such header, or a row has too few values or an empty name; the message has the
            line.
        OSError: the file cannot be read.
    """
    shared = SharedColumns()
    tables: dict[str, list[tuple[int, str, str | None]]] = {}
    texts: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file, delimiter=_delimiter(file))
        places = _places(next(rows, []), path)
        for values in rows:
            if not values:
                continue
            if len(values) <= max(places.values()):
                raise CatalogError(f"{path}:{rows.line_num}: {len(values)} values, fewer than the header has")
            row = {name: values[at] for name, at in places.items()}
            if not all(row[name] for name in _REQUIRED):
                raise CatalogError(f"{path}:{rows.line_num}: the name of the table or column is empty")
            if row.get("table_schema", "").lower() in _SYSTEM:
                continue
            parts = (row.get("table_catalog"), row.get("table_schema"), row["table_name"])
            full = format_name([part for part in parts if part])
            position = row.get("ordinal_position", "")
            own = tables.setdefault(full, [])
            number = int(position) if position.isdecimal() else len(own)
            column, kind = row["column_name"], row.get("data_type")
            own.append((number, texts.setdefault(column, column), texts.setdefault(kind, kind) if kind else None))
    for name in list(tables):
        columns = sorted(tables.pop(name), key=lambda one: one[0])
        yield TableSchema(name, tuple(shared.of(column, kind) for _, column, kind in columns))


def _delimiter(file: TextIO) -> str:
    """Return what separates the values in the header: a comma, else a semicolon, tab or bar."""
    header = file.readline()
    file.seek(0)
    return next((one for one in ",;\t|" if one in header), ",")


def _places(header: list[str], path: Path) -> dict[str, int]:
    """Return the positions of the known columns in a header.

    Raises:
        CatalogError: it lacks the name of the table or of the column.
    """
    found: dict[str, int] = {}
    for at, written in enumerate(header):
        name = written.strip().lower()
        name = _ALSO.get(name, name)
        if name in _NAMES:
            found.setdefault(name, at)
    for name in _REQUIRED:
        if name not in found:
            listed = name_list(header, 10) or "nothing"
            raise CatalogError(f"{path}:1: no column {name} in the header, which has {listed}")
    return found
