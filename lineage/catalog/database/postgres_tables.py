"""The schemas of PostgreSQL's tables and views: one query for all of them, or for those that are named."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.database.postgres_session import PostgresSession, postgres_session
from lineage.catalog.shared_columns import SharedColumns
from lineage.catalog.table import TableSchema
from lineage.model.names import format_name

__all__ = ["PostgresTables"]

_COLUMNS = """
SELECT n.nspname, c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
  AND a.attnum > 0 AND NOT a.attisdropped
"""
# Which letters `lower` knows depends on the database's locale: tables with other letters are always read.
_NAMED = (
    " AND (pg_catalog.lower(c.relname) = ANY(%s) OR pg_catalog.octet_length(c.relname::text) <> "
    "pg_catalog.char_length(c.relname::text))"
)
_ORDER = " ORDER BY c.oid, a.attnum"


class PostgresTables:
    """Reads the tables of a PostgreSQL database, by full name: database, schema, table."""

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address

    def read(self, names: Collection[str] | None = None) -> Iterator[TableSchema]:
        """Yield the tables and views, or those whose own name, in lower case, is one of `names`.

        Raises:
            DatabaseError: the database could not be read.
        """
        with postgres_session(self._address) as session:
            yield from SharedColumns().grouped(_rows(session, names))


def _rows(session: PostgresSession, names: Collection[str] | None) -> Iterator[tuple[str, str, str | None]]:
    query = _COLUMNS + ("" if names is None else _NAMED) + _ORDER
    schema, table, full = "", "", ""
    for nspname, relname, column, data_type in session.stream(query, () if names is None else (sorted(names),)):
        if (nspname, relname) != (schema, table):
            schema, table = nspname, relname
            full = format_name([session.database, schema, table])
        yield full, column, data_type
