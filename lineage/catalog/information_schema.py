"""Read table schemas from a CSV export of `information_schema.columns`, as every database can write it."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from lineage.catalog.shared_columns import SharedColumns
from lineage.catalog.table import CatalogError, TableSchema
from lineage.model.names import format_name
from lineage.model.text.name_lists import name_list

__all__ = ["read_information_schema"]

_NAMES = ("table_catalog", "table_schema", "table_name", "column_name", "ordinal_position", "data_type")
_DELETED = "deleted"
"""When a column was dropped: Snowflake's ACCOUNT_USAGE.COLUMNS lists those, too."""
_NOTHING = frozenset(("", "null", "\\n"))
"""How tools write NULL."""
_NO_CATALOG = "def"
"""MySQL's catalog of all schemas, which no name has."""
_REQUIRED = ("table_name", "column_name")
_ALSO = {"database": "table_catalog", "table_database": "table_catalog", "schema": "table_schema",
         "table": "table_name",
         "column": "column_name", "type": "data_type", "position": "ordinal_position",
         "deleted": "deleted", "deleted_on": "deleted"}  # fmt: skip
_SYSTEM = frozenset(("information_schema", "pg_catalog"))


def read_information_schema(path: Path) -> Iterator[TableSchema]:
    """Yield the tables of a CSV file with a header; columns are ordered by `ordinal_position`, if there is one.

    Raises:
        CatalogError: the file has no such header, or no rows, or a row has too few values or an empty name; the message
            has the line.
        OSError: the file cannot be read.
    """
    csv.field_size_limit(2**31 - 1)  # a comment or default can be long
    shared = SharedColumns()
    tables: dict[str, list[tuple[int, str, str | None]]] = {}
    texts: dict[str, str] = {}
    with path.open(encoding=_encoding(path), newline="") as file:
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
            if row.get("table_schema", "").lower() in _SYSTEM or row.get(_DELETED, "").lower() not in _NOTHING:
                continue
            outer = [row.get(name, "") for name in ("table_catalog", "table_schema")]
            parts = [*("" if part.lower() in _NOTHING else part for part in outer), row["table_name"]]
            if parts[0] == _NO_CATALOG and parts[1]:
                parts[0] = ""
            full = format_name([part for part in parts if part])
            position = row.get("ordinal_position", "")
            own = tables.setdefault(full, [])
            number = int(position) if position.isdecimal() else len(own)
            column, kind = row["column_name"], row.get("data_type")
            own.append((number, texts.setdefault(column, column), texts.setdefault(kind, kind) if kind else None))
    if not tables:
        raise CatalogError(f"{path}: it has no columns of tables, only a header")
    for name in list(tables):
        columns = sorted(tables.pop(name), key=lambda one: one[0])
        once = {column: shared.of(column, kind) for _, column, kind in reversed(columns)}  # an export may repeat rows
        yield TableSchema(name, tuple(reversed(once.values())))


def _encoding(path: Path) -> str:
    """Return UTF-16 if the file begins with its mark (SQL Server's tools write it), else UTF-8."""
    with path.open("rb") as file:
        return "utf-16" if file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"


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
    positions: dict[str, int] = {}
    for at, written in enumerate(header):
        name = written.strip().lower()
        name = _ALSO.get(name, name)
        if name in (*_NAMES, _DELETED):
            positions.setdefault(name, at)
    for name in _REQUIRED:
        if name not in positions:
            listed = name_list(header, 10) or "nothing"
            raise CatalogError(f"{path}:1: no column {name} in the header, which has {listed}")
    return positions
