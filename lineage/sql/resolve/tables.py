"""Look-up of a statement's table names in a catalog; a script adds the tables that its statements define."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from lineage.catalog import Catalog
from lineage.model.names import Naming, plain_name, split_name
from lineage.sql.resolve.relations import BaseTables, Relation

__all__ = ["CatalogTables", "NeedsDefinitionError", "TableEntry", "TableSource"]


class NeedsDefinitionError(Exception):
    """A table is defined by a statement of the script that is not resolved yet: resolve `position` first."""

    def __init__(self, position: tuple[int, int]) -> None:
        super().__init__(position)
        self.position = position


class TableEntry(NamedTuple):
    """A table's full name, with its columns and their types if the schema is known, or a temporary table's relation.

    `learnt`: the columns come from an earlier ingest. `candidates`: the full names that it may mean, if no schema on
    the search path is known to contain it.
    """

    name: str
    columns: dict[str, str | None] | None = None
    relation: Relation | None = None
    learnt: bool = False
    candidates: tuple[str, ...] = ()


class TableSource(Protocol):
    """Looks up tables by the parts of their names, outermost first, folded as the dialect folds them."""

    @property
    def shared(self) -> BaseTables:
        """The objects for tables and columns of the database that all statements share."""

    def name(self, parts: Sequence[str]) -> str:
        """Return the full name of a table that a statement creates."""

    def existing_name(self, parts: Sequence[str]) -> str:
        """Return the full name of an existing table."""

    def find(self, parts: Sequence[str]) -> TableEntry:
        """Return the entry of a table; it has at least the full name."""

    def in_schema(self, schema: Sequence[str], parts: Sequence[str]) -> bool:
        """Return whether a schema contains a table given by one name part, and no temporary table hides it."""

    def seen(self, tables: Collection[str], column: str) -> set[str]:
        """Return which of these tables, whose schema is unknown, have a column by its use in other statements."""


_NO_COLUMNS: dict[str, str | None] = {}
_MAX_ENTRIES = 20_000
"""Maximum number of cached entries, so that a worker that reads millions of statements does not run out of memory."""


class CatalogTables:
    """The tables of a catalog."""

    def __init__(self, catalog: Catalog, naming: Naming) -> None:
        self._catalog = catalog
        self._naming = naming
        # Shared by all look-ups in this catalog with these defaults.
        self._entries: dict[tuple[str, ...], TableEntry] = catalog.memo.setdefault(naming, {})
        self._inferred: dict[str, dict[str, str | None]] = catalog.memo.setdefault("inferred", {})
        self.shared: BaseTables = catalog.memo.get(BaseTables) or catalog.memo.setdefault(BaseTables, BaseTables())

    def name(self, parts: Sequence[str]) -> str:
        """Return a table's full name: the catalog's, if it has the table, else completed by the defaults."""
        return self.find(parts).name

    def existing_name(self, parts: Sequence[str]) -> str:
        """Return the table's full name."""
        return self.find(parts).name

    def find(self, parts: Sequence[str]) -> TableEntry:
        """Return the table's full name and its columns, if the catalog has it."""
        key = tuple(parts)
        entry = self._entries.get(key)
        if entry is None:
            name = self._naming.qualify(parts)
            schema = self._catalog.find(name)
            if schema is not None and schema.name != name and self._naming.versions:
                name = self._naming.version_of(schema.name)  # the catalog's name has more parts
                schema = self._catalog.find(name)
            known = schema is not None and not schema.inferred
            learnt = schema is not None and schema.learnt
            columns = schema.names if schema and known else None
            # The entry is shared, so without one statement's spelling.
            entry = TableEntry(str(schema.name if schema else name), columns, learnt=learnt)
            if len(self._entries) >= _MAX_ENTRIES:
                self._entries.clear()
            self._entries[key] = entry
        return entry

    def in_schema(self, schema: Sequence[str], parts: Sequence[str]) -> bool:
        """Return whether a schema of the catalog contains a table given by one name part."""
        name = self._naming.qualify([*schema, *parts])
        found = self._catalog.find(name)
        if found is None:
            return False
        # A log names a table as it was created.
        meant = (
            [part for part, _ in split_name(plain_name(name))][-2:] if self._naming.versions else [schema[-1], *parts]
        )
        return [part for part, _ in split_name(plain_name(found.name))][-2:] == meant

    def seen(self, tables: Collection[str], column: str) -> set[str]:
        """Return which of these tables have the column in the catalog as inferred from use."""
        return {table for table in tables if self.infers(table, column)}

    def infers(self, table: str, column: str) -> bool:
        """Return whether the catalog has the column as inferred from use."""
        columns = self._inferred.get(table)
        if columns is None:
            schema = self._catalog.find(table)
            columns = schema.names if schema is not None and schema.inferred else _NO_COLUMNS
            if len(self._inferred) >= _MAX_ENTRIES:
                self._inferred.clear()
            self._inferred[table] = columns
        return column in columns
