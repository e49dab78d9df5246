"""Where a statement's table names are looked up: a catalog here; a script adds what its statements define."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from lineage.catalog import Catalog
from lineage.model.names import Naming, plain_name, split_name
from lineage.sql.resolve.relations import BaseTables, Relation

__all__ = ["CatalogTables", "NeedsDefinitionError", "TableEntry", "TableSource"]


class NeedsDefinitionError(Exception):
    """A table is defined by a statement of the script that has not been resolved yet: resolve `position` first."""

    def __init__(self, position: tuple[int, int]) -> None:
        super().__init__(position)
        self.position = position


class TableEntry(NamedTuple):
    """A table's full name; its columns in order, if a schema is known; or the relation of a temporary table.

    `learnt`: an earlier ingest stated the columns. `candidates`: the names that it may mean, of several schemas of a
    search path of which none is known to have it.
    """

    name: str
    columns: dict[str, None] | None = None
    relation: Relation | None = None
    learnt: bool = False
    candidates: tuple[str, ...] = ()


class TableSource(Protocol):
    """Looks tables up by the parts of their name, outermost first, folded as the dialect folds them."""

    @property
    def shared(self) -> BaseTables:
        """The objects for tables and columns of the database that all statements share."""

    def name(self, parts: Sequence[str]) -> str:
        """Return the full name of a table that a statement creates."""

    def existing(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the name of a table that is there with the first schema of the search path that has it, if any has."""

    def existing_name(self, parts: Sequence[str]) -> str:
        """Return the full name of a table that is there."""

    def find(self, parts: Sequence[str]) -> TableEntry:
        """Return what is known of a table; at the least its full name."""

    def in_schema(self, schema: Sequence[str], parts: Sequence[str]) -> bool:
        """Return whether a table of one part is known in a schema, and no temporary table of that name hides it."""

    def seen(self, tables: Collection[str], column: str) -> set[str]:
        """Return which of some tables, of unknown schema, other statements show to have a column."""


_NO_COLUMNS: dict[str, None] = {}
_MAX_ENTRIES = 20_000
"""A worker that reads millions of statements meets ever new names: it begins again before they fill the memory."""


class CatalogTables:
    """Tables as a catalog knows them."""

    def __init__(self, catalog: Catalog, naming: Naming) -> None:
        self._catalog = catalog
        self._naming = naming
        # Shared by all that look into this catalog with these defaults.
        self._entries: dict[tuple[str, ...], TableEntry] = catalog.memo.setdefault(naming, {})
        self._inferred: dict[str, dict[str, None]] = catalog.memo.setdefault("inferred", {})
        self.shared: BaseTables = catalog.memo.get(BaseTables) or catalog.memo.setdefault(BaseTables, BaseTables())

    def name(self, parts: Sequence[str]) -> str:
        """Return a table's full name: the catalog's, if it knows the table, else the defaults fill it in."""
        return self.find(parts).name

    def existing(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the name as it is: only the statements of a script have a search path."""
        return parts

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
            # Others share the entry: how one statement writes the name is not theirs.
            entry = TableEntry(str(schema.name if schema else name), columns, learnt=learnt)
            if len(self._entries) >= _MAX_ENTRIES:
                self._entries.clear()
            self._entries[key] = entry
        return entry

    def in_schema(self, schema: Sequence[str], parts: Sequence[str]) -> bool:
        """Return whether the catalog has a table of one part in a schema."""
        name = self._naming.qualify([*schema, *parts])
        found = self._catalog.find(name)
        if found is None:
            return False
        # A log calls a table by what it was made as.
        meant = (
            [part for part, _ in split_name(plain_name(name))][-2:] if self._naming.versions else [schema[-1], *parts]
        )
        return [part for part, _ in split_name(plain_name(found.name))][-2:] == meant

    def seen(self, tables: Collection[str], column: str) -> set[str]:
        """Return which of some tables the catalog holds with the column, as one that was inferred from use."""
        return {table for table in tables if self.infers(table, column)}

    def infers(self, table: str, column: str) -> bool:
        """Return whether the catalog holds the column as one that was inferred from use."""
        columns = self._inferred.get(table)
        if columns is None:
            schema = self._catalog.find(table)
            columns = schema.names if schema is not None and schema.inferred else _NO_COLUMNS
            if len(self._inferred) >= _MAX_ENTRIES:
                self._inferred.clear()
            self._inferred[table] = columns
        return column in columns
