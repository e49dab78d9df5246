"""The tables that one statement of a script sees: those of the script's other statements, then the catalog's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

from lineage.model.names import Naming
from lineage.sql.resolve.tables import CatalogTables, TableEntry
from lineage.sql.script.definitions import Definition, Position
from lineage.sql.script.resolutions import CatalogDigests
from lineage.sql.script.tables.renames import Renames
from lineage.sql.script.tables.temp_tables import Content

__all__ = ["Decision", "ScriptTables"]


Decision: TypeAlias = "tuple[str, tuple[str, ...]]"
"""An unprefixed column and its candidate tables; other statements show that exactly one of them has it."""


class ScriptState(Protocol):
    """What the tables of a statement need of its script."""

    renames: Renames
    catalog_digests: CatalogDigests
    searched: dict[tuple[str, ...], None]
    """The full names that names without a schema may mean, in the order of the search path; for a view's own
    schema only the name in it."""

    def definition(self, name: str, use: Position) -> tuple[Position, Definition] | None:
        """Return the definition that a use of a table refers to."""

    def final(self, name: str, use: Position) -> tuple[Position, Definition] | None:
        """Return the final definition of a name, for a view."""

    def makes(self, name: str) -> bool:
        """Return whether a statement creates the table for other statements."""

    def require(self, position: Position, name: str, use: Position) -> bool:
        """Return True if a statement is resolved, False if it depends on the use itself."""

    def content(self, definition: Definition, position: Position, use: Position) -> Content:
        """Return the content of a temporary table at a use."""

    def schema(self, position: Position, name: str) -> dict[str, str | None] | None:
        """Return the columns of a table of this name after a resolved statement."""

    def seen(self, table: str, column: str) -> bool:
        """Return whether a statement resolved so far shows that the table has the column."""

    def catalog_tables(self, naming: Naming) -> CatalogTables:
        """Return the catalog as a statement with this naming sees it."""

    def temporary_name(self, parts: Sequence[str], position: Position) -> str | None:
        """Return the full name of the temporary table of this name that a statement creates, if any."""

    def naming(self, position: Position) -> Naming:
        """Return the naming of a statement."""


class ScriptTables:
    """The tables that one statement of a script sees."""

    def __init__(self, script: ScriptState, use: Position, *, follows_names: bool) -> None:
        self._script = script
        self._use = use
        self._behind: dict[str, tuple[str, ...]] = {}
        self._catalog = script.catalog_tables(script.naming(use))
        self.shared = self._catalog.shared
        self.catalog_digests = script.catalog_digests
        self.decisions: dict[Decision, None] = {}
        self._follows_names = follows_names
        self._unknown: tuple[str, ...] = ()
        """The possible full names of the last table looked up, if no schema is known to have it."""
        self.by_name: dict[str, None] = {}
        """Names in a view whose final table differs from the one at its definition."""
        self.from_catalog = False
        self.from_other_text = False

    def name(self, parts: Sequence[str]) -> str:
        """Return the full name of a table that the statement creates; it may equal that of a temporary table."""
        script, use = self._script, self._use
        temporary = script.temporary_name(parts, use)
        if temporary is not None:
            return temporary
        naming = script.naming(use)
        if not naming.session_tables:
            return self._catalog.name(parts)
        return script.catalog_tables(replace(naming, session_tables=())).name(parts)

    def existing_name(self, parts: Sequence[str]) -> str:
        """Return the full name of an existing table; a temporary table has precedence."""
        script, use = self._script, self._use
        temporary = script.temporary_name(parts, use) or script.naming(use).session_table(parts)
        return temporary or self._catalog.name(self._on_search_path(parts))

    def _on_search_path(self, parts: Sequence[str]) -> Sequence[str]:
        """Return the parts of an existing table's name, with the first schema of the search path that has it.

        A schema that has the table when the statement runs precedes one that gets it later.
        """
        script, use = self._script, self._use
        candidates = script.naming(use).candidates(parts)
        if len(candidates) == 1:
            return parts
        names = tuple(self._catalog.find(candidate).name for candidate in candidates)
        script.searched[names] = None
        later: Sequence[str] | None = None
        for candidate, name in zip(candidates, names, strict=True):
            definition = script.definition(name, use)
            if definition is not None and definition[0] < use:
                return candidate
            entry = self._catalog.find(candidate)
            if entry.columns is not None and not (entry.learnt and script.makes(name)):
                return candidate
            if definition is not None and later is None:
                later = candidate
        if later is None:
            self._unknown = names
        return parts if later is None else later

    def find(self, parts: Sequence[str]) -> TableEntry:
        """Return a table's entry: from the script, else from the catalog.

        Raises:
            NeedsDefinitionError: the statement that defines it has to be resolved first.
        """
        self._unknown = ()
        entry = self._find(self._on_search_path(parts))
        self.from_catalog = self.from_catalog and not self._unknown
        return entry._replace(candidates=self._unknown) if self._unknown else entry

    def _find(self, parts: Sequence[str]) -> TableEntry:
        script, use = self._script, self._use
        session = script.naming(use).session_table(parts)
        entry = TableEntry(session) if session is not None else self._catalog.find(parts)
        self.from_catalog = False
        placed_definition = script.definition(entry.name, use)
        if (
            self._follows_names
            and placed_definition is not None
            and placed_definition[1].until is not None
            and not placed_definition[1].session
        ):
            placed_definition = self._final(entry.name, placed_definition)
        if placed_definition is None:
            # The statement reads the table that it replaces. An earlier ingest learned the columns that it
            # creates, not those that it reads.
            if entry.learnt and script.makes(entry.name):
                return TableEntry(entry.name)
            self.from_catalog = session is None
            return entry
        position, definition = placed_definition
        if entry.learnt and not definition.alters:
            entry = TableEntry(entry.name)
        if not script.require(position, entry.name, use):
            return TableEntry(entry.name, entry.columns)
        if definition.temporary:
            return self._temporary(definition, position)
        columns = script.schema(position, entry.name)
        return TableEntry(entry.name, columns if columns is not None else entry.columns)

    def _final(self, name: str, placed_definition: tuple[Position, Definition]) -> tuple[Position, Definition]:
        """Return the final definition of a name in a view, if it changes after the view is defined."""
        if placed_definition[1].renamed and self._script.naming(self._use).dialect.views_follow_renames:
            return placed_definition
        final = self._script.final(name, self._use)
        if final is None:
            return placed_definition
        self.by_name[name] = None
        return final

    def in_schema(self, schema: Sequence[str], parts: Sequence[str]) -> bool:
        """Return whether a table of one part is known in a schema, and no temporary table of that name hides it."""
        hides = self._script.definition(self.existing_name(parts), self._use)
        if hides is not None and hides[1].temporary:
            return False
        name = self._catalog.name([*schema, *parts])
        self._script.searched[(name,)] = None
        if self._script.definition(name, self._use) is not None:
            return True
        # An earlier ingest learned the table that this statement creates, and does not read.
        is_own = self._catalog.find([*schema, *parts]).learnt and self._script.makes(name)
        return not is_own and self._catalog.in_schema(schema, parts)

    def _temporary(self, definition: Definition, position: Position) -> TableEntry:
        name, content = definition.name, self._script.content(definition, position, self._use)
        self.from_other_text = self.from_other_text or position[0] != self._use[0]
        renamed = self._script.renames.between(content.additions[-1] if content.additions else position, self._use)
        self._behind[name] = tuple(map(renamed.table, content.behind))
        relation = content.relation
        if relation is not None:
            relation = renamed.in_relation(relation, self.shared)
        return TableEntry(name, None, relation)

    def seen(self, tables: Collection[str], column: str) -> set[str]:
        """Return those of the tables that other statements show to have a column."""
        found = {table for table in tables if self._script.seen(table, column)}
        if len(found) == 1 and len(tables) > 1:
            self.decisions[column, tuple(sorted(tables))] = None
        return found

    def sources(self, names: Iterable[str]) -> dict[str, None]:
        """Return the tables read, each temporary table replaced by the tables behind it."""
        total: dict[str, None] = {}
        for name in names:
            total.update(dict.fromkeys(self._behind.get(name, (name,))))
        return total
