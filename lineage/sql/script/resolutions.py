"""What another process resolved a text's statements to, with every look-up that each result depends on.

A statement's lineage is a function of its text, the options, and the answers to its look-ups of tables. So a
result from elsewhere is valid here exactly if the same look-ups, in their order, have the same answers here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from lineage.frozen import frozen
from lineage.model.names import Naming
from lineage.model.spelling import own_spelling
from lineage.model.statement import StatementLineage
from lineage.sql.procedural import Variables
from lineage.sql.resolve.column_names.unnamed_column import UnnamedColumn
from lineage.sql.resolve.relations import BaseTables
from lineage.sql.resolve.tables import TableEntry, TableSource
from lineage.sql.script.definitions import Definition
from lineage.sql.script.sessions.transactions import RolledBack

__all__ = [
    "CatalogDigests",
    "Columns",
    "LookUp",
    "RecordingTables",
    "StatementResolution",
    "TablesOfText",
    "TextResolution",
    "TextSchemas",
    "are_alike",
]


Columns: TypeAlias = "tuple[tuple[str, str | None], ...]"
"""Columns with their types, in order."""


class LookUp(NamedTuple):
    """A call of a method of `TableSource`, and its answer as plain values; of the catalog's own entries a digest."""

    method: str
    arguments: tuple[Any, ...]
    answer: Any


class StatementResolution(NamedTuple):
    """What a statement was resolved to: with the final meaning of names or not, over which tables and variables.

    `schema` are the columns of its target; `creates` and `adds` say whether it leaves a relation to later statements,
    and to which temporary tables it adds rows. Relations themselves stay where they are: they refer to syntax trees.
    `has_outcome`: a rule resolved it.
    """

    follows_names: bool
    variables: tuple[str, ...]
    look_ups: tuple[LookUp, ...]
    statement: StatementLineage
    has_outcome: bool
    schema: Columns | None
    creates: bool
    adds: tuple[str | None, ...]


class TextSchemas(NamedTuple):
    """What a text's statements define, and the columns of their targets if they are known."""

    definitions: tuple[tuple[Definition, ...], ...]
    schemas: tuple[Columns | None, ...]


@frozen
class TextResolution:
    """What another process found out about a text; the attributes are those of `Text`.

    `namings` is None if all are that of the options. `resolutions` has those of each statement, `parts` the index of
    its part. `stays`: it can only be resolved where it is read, because statements were resolved several times in a
    loop, or a column that it makes or reads has a name that is not sent (`UnnamedColumn`). `seconds` is the time that
    the text took. `searched` are the questions that finding its definitions asked of the catalog, see `Text.searched`.
    """

    definitions: tuple[tuple[Definition, ...], ...]
    namings: tuple[Naming, ...] | None
    rolled_back: RolledBack
    query_targets: tuple[tuple[int, str], ...]
    variables: Variables | None
    parts: tuple[int, ...]
    resolutions: tuple[tuple[StatementResolution, ...], ...] = ()
    stays: bool = False
    seconds: float = 0.0
    searched: tuple[tuple[tuple[str, Naming], tuple[bool, bool]], ...] = ()

    @property
    def has_contents(self) -> bool:
        """Whether statements read what earlier ones leave in variables or temporary tables."""
        return self.variables is not None or any(d.temporary for own in self.definitions for d in own)

    @property
    def schemas(self) -> TextSchemas:
        """What other texts need to know of it."""
        last = (found[-1].schema if found else None for found in self.resolutions)
        return TextSchemas(self.definitions, tuple(last))


class TablesOfText(TableSource, Protocol):
    """The tables that a statement of a script sees, with where the last one found comes from."""

    from_catalog: bool
    """The last answer of `find` is the catalog's own entry."""
    from_other_text: bool
    """An answer of `find` is the content of a temporary table of another text."""
    catalog_digests: CatalogDigests


class CatalogDigests:
    """Digests of a catalog's entries: statements of other processes and runs are valid with the same ones."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[TableEntry, bytes]] = {}

    def of(self, entry: TableEntry) -> bytes:
        """Return the digest of an entry; those of the same object are computed once."""
        known = self._known.get(entry.name)
        if known is None or known[0] is not entry:
            text = repr(_plain(entry)).encode(errors="surrogatepass")
            known = self._known[entry.name] = entry, hashlib.sha256(text).digest()[:16]
        return known[1]


class RecordingTables:
    """Tables that record each look-up once: while one statement is resolved, an answer does not change."""

    def __init__(self, tables: TablesOfText) -> None:
        self._tables = tables
        self.finds_unsent = False
        """A table has a column whose name is not sent, so that a look-up does not have its whole answer."""
        self.finds_content = False
        """A table has the content of other statements, of which a look-up has only that it is there."""
        self._made: dict[tuple[str, tuple[Any, ...]], Any] = {}

    @property
    def shared(self) -> BaseTables:
        """The objects that all statements share."""
        return self._tables.shared

    def look_ups(self) -> tuple[LookUp, ...]:
        """Return the look-ups in their order."""
        return tuple(LookUp(method, arguments, answer) for (method, arguments), answer in self._made.items())

    def name(self, parts: Sequence[str]) -> str:
        """Return the full name of a table that a statement creates."""
        found = self._tables.name(parts)
        self._made["name", (tuple(parts),)] = _plain(found)
        return found

    def existing_name(self, parts: Sequence[str]) -> str:
        """Return the full name of an existing table."""
        found = self._tables.existing_name(parts)
        self._made["existing_name", (tuple(parts),)] = _plain(found)
        return found

    def find(self, parts: Sequence[str]) -> TableEntry:
        """Return the entry of a table."""
        entry = self._tables.find(parts)
        self._made["find", (tuple(parts),)] = _answer(entry, self._tables)
        if entry.columns is not None and UnnamedColumn in map(type, entry.columns):
            self.finds_unsent = True
        self.finds_content |= entry.relation is not None
        return entry

    def in_schema(self, schema: Sequence[str], parts: Sequence[str]) -> bool:
        """Return whether a schema contains a table."""
        found = self._tables.in_schema(schema, parts)
        self._made["in_schema", (tuple(schema), tuple(parts))] = found
        return found

    def seen(self, tables: Collection[str], column: str) -> set[str]:
        """Return which of these tables have a column by its use in other statements."""
        found = self._tables.seen(tables, column)
        self._made["seen", (tuple(tables), column)] = _plain(found)
        return found


def are_alike(look_ups: Sequence[LookUp], tables: TablesOfText) -> bool:
    """Return whether these tables answer look-ups, in their order, as they were answered elsewhere.

    The first different answer ends the comparison: a statement resolved here would make no other call before it.

    Raises:
        NeedsDefinitionError: a look-up needs a statement that is not resolved yet.
    """
    for method, arguments, answer in look_ups:
        found = getattr(tables, method)(*arguments)
        if method == "find" and tables.from_other_text:
            return False
        if (_answer(found, tables) if method == "find" else _plain(found)) != answer:
            return False
    return True


def _answer(found: TableEntry, tables: TablesOfText) -> Any:
    return tables.catalog_digests.of(found) if tables.from_catalog else _plain(found)


def _plain(answer: Any) -> Any:
    """Return an answer as values that compare exactly: order and spelling count, and relations only by being there."""
    if isinstance(answer, TableEntry):
        columns = None if answer.columns is None else tuple((_plain(n), t) for n, t in answer.columns.items())
        candidates = tuple(map(_plain, answer.candidates))
        return _plain(answer.name), columns, answer.relation is not None, answer.learnt, candidates
    if isinstance(answer, str):
        if type(answer) is str:
            return answer
        return type(answer).__name__, str(answer), own_spelling(answer)
    if isinstance(answer, set):
        return tuple(sorted(answer))
    return answer if isinstance(answer, bool) else tuple(map(_plain, answer))
