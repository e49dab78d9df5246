"""Tables of one row without data, which a query names because its dialect demands a FROM: Oracle's DUAL."""

from __future__ import annotations

from collections.abc import Sequence

from lineage.model.dialect import Dialect

__all__ = ["column_of_one_row"]

_COLUMNS = {"dual": "DUMMY", "sysdummy1": "IBMREQD", "one": "dummy"}
"""Their only column, by the last part of their names."""


def column_of_one_row(parts: Sequence[str], dialect: Dialect, *, quoted: bool = False) -> str | None:
    """Return the column of a table of one row without data; None for any other table.

    >>> from lineage.model.dialects import dialect_named
    >>> [column_of_one_row(["DUAL"], dialect_named(name)) for name in ("oracle", "postgres")]
    ['DUMMY', None]
    """
    column = _COLUMNS.get(parts[-1].lower()) if parts else None
    if column is None or (quoted and dialect.one_row_table_is_keyword):
        return None
    name = ".".join(parts[-2:])
    names = dialect.one_row_tables
    is_named = (
        name in names or f"*.{parts[-1]}" in names or (dialect.one_row_table_is_keyword and name.upper() in names)
    )
    return dialect.fold_column(column) if is_named else None
