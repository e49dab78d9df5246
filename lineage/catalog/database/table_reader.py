"""What reads the schemas of tables of a database, for each kind of database."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from lineage.catalog.database.address import DatabaseAddress
from lineage.catalog.table import TableSchema

__all__ = ["TableReader", "table_reader"]


class TableReader(Protocol):
    """Reads schemas. Each method raises DatabaseError if the database cannot be read."""

    def read(self, names: Collection[str] | None = None) -> Iterable[TableSchema]:
        """Return the tables and views, or those whose own name, in lower case and without schema, is in `names`."""


def table_reader(address: DatabaseAddress) -> TableReader:
    """Return the reader for the database at an address."""
    if address.is_postgres:
        from lineage.catalog.database.postgres_tables import PostgresTables  # noqa: PLC0415  an extra

        return PostgresTables(address)
    from lineage.catalog.database.inspected_tables import InspectedTables  # noqa: PLC0415  an extra

    return InspectedTables(address)
